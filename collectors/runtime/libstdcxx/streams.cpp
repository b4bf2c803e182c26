// Streams of characters and their numbers, as libstdc++'s headers define them: compiled with the pass, and linked in
// front of libstdc++'s binary, which has the same code unrecorded.
//
// The facets' identities stay in that binary: all code of a process must agree on them.
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#include <fstream>
#include <iomanip>
#include <locale>
#include <sstream>

namespace std {

extern template class numpunct<char>;
extern template class num_put<char>;
extern template class num_get<char>;
extern template class ctype_byname<char>;

template bool has_facet<ctype<char>>(const locale &);
template bool has_facet<num_put<char>>(const locale &);
template bool has_facet<num_get<char>>(const locale &);
template const ctype<char> &use_facet(const locale &);
template const num_put<char> &use_facet(const locale &);
template const num_get<char> &use_facet(const locale &);

template class basic_ios<char>;
template class basic_streambuf<char>;
template class basic_filebuf<char>;
template class basic_stringbuf<char>;

template class basic_ostream<char>;
template class basic_ofstream<char>;
template class basic_ostringstream<char>;
template ostream &endl(ostream &);
template ostream &ends(ostream &);
template ostream &flush(ostream &);
template ostream &operator<<(ostream &, char);
template ostream &operator<<(ostream &, unsigned char);
template ostream &operator<<(ostream &, signed char);
template ostream &operator<<(ostream &, const char *);
template ostream &operator<<(ostream &, const unsigned char *);
template ostream &operator<<(ostream &, const signed char *);
template ostream &__ostream_insert(ostream &, const char *, streamsize);
template ostream &ostream::_M_insert(bool);
template ostream &ostream::_M_insert(long);
template ostream &ostream::_M_insert(unsigned long);
template ostream &ostream::_M_insert(long long);
template ostream &ostream::_M_insert(unsigned long long);
template ostream &ostream::_M_insert(double);
template ostream &ostream::_M_insert(long double);
template ostream &ostream::_M_insert(const void *);

using Output = ostreambuf_iterator<char>;
template Output num_put<char>::_M_insert_int(Output, ios_base &, char, long) const;
template Output num_put<char>::_M_insert_int(Output, ios_base &, char, unsigned long) const;
template Output num_put<char>::_M_insert_int(Output, ios_base &, char, long long) const;
template Output num_put<char>::_M_insert_int(Output, ios_base &, char, unsigned long long) const;
template Output num_put<char>::_M_insert_float(Output, ios_base &, char, char, double) const;
template Output num_put<char>::_M_insert_float(Output, ios_base &, char, char, long double) const;
template Output num_put<char>::do_put(Output, ios_base &, char, bool) const;
template Output num_put<char>::do_put(Output, ios_base &, char, long) const;
template Output num_put<char>::do_put(Output, ios_base &, char, unsigned long) const;
template Output num_put<char>::do_put(Output, ios_base &, char, long long) const;
template Output num_put<char>::do_put(Output, ios_base &, char, unsigned long long) const;
template Output num_put<char>::do_put(Output, ios_base &, char, double) const;
template Output num_put<char>::do_put(Output, ios_base &, char, long double) const;
template Output num_put<char>::do_put(Output, ios_base &, char, const void *) const;

template class basic_istream<char>;
template class basic_iostream<char>;
template class basic_ifstream<char>;
template class basic_fstream<char>;
template class basic_istringstream<char>;
template class basic_stringstream<char>;
template istream &ws(istream &);
template istream &operator>>(istream &, char &);
template istream &operator>>(istream &, unsigned char &);
template istream &operator>>(istream &, signed char &);
template istream &istream::_M_extract(bool &);
template istream &istream::_M_extract(unsigned short &);
template istream &istream::_M_extract(unsigned int &);
template istream &istream::_M_extract(long &);
template istream &istream::_M_extract(unsigned long &);
template istream &istream::_M_extract(long long &);
template istream &istream::_M_extract(unsigned long long &);
template istream &istream::_M_extract(float &);
template istream &istream::_M_extract(double &);
template istream &istream::_M_extract(long double &);
template istream &istream::_M_extract(void *&);

using Input = istreambuf_iterator<char>;
using State = ios_base::iostate;
template Input num_get<char>::_M_extract_int(Input, Input, ios_base &, State &, long &) const;
template Input num_get<char>::_M_extract_int(Input, Input, ios_base &, State &, unsigned short &) const;
template Input num_get<char>::_M_extract_int(Input, Input, ios_base &, State &, unsigned int &) const;
template Input num_get<char>::_M_extract_int(Input, Input, ios_base &, State &, unsigned long &) const;
template Input num_get<char>::_M_extract_int(Input, Input, ios_base &, State &, long long &) const;
template Input num_get<char>::_M_extract_int(Input, Input, ios_base &, State &, unsigned long long &) const;
template Input num_get<char>::_M_extract_float(Input, Input, ios_base &, State &, string &) const;
template Input num_get<char>::do_get(Input, Input, ios_base &, State &, bool &) const;
template Input num_get<char>::do_get(Input, Input, ios_base &, State &, long &) const;
template Input num_get<char>::do_get(Input, Input, ios_base &, State &, unsigned short &) const;
template Input num_get<char>::do_get(Input, Input, ios_base &, State &, unsigned int &) const;
template Input num_get<char>::do_get(Input, Input, ios_base &, State &, unsigned long &) const;
template Input num_get<char>::do_get(Input, Input, ios_base &, State &, long long &) const;
template Input num_get<char>::do_get(Input, Input, ios_base &, State &, unsigned long long &) const;
template Input num_get<char>::do_get(Input, Input, ios_base &, State &, float &) const;
template Input num_get<char>::do_get(Input, Input, ios_base &, State &, double &) const;
template Input num_get<char>::do_get(Input, Input, ios_base &, State &, long double &) const;
template Input num_get<char>::do_get(Input, Input, ios_base &, State &, void *&) const;

} // namespace std
