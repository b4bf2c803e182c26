// Strings from streams. libstdc++ declares these functions and has them in its binary; these do what those do.
//
// They are weak, so that a static program may have both.
#include <bits/cxxabi_forced.h>
#include <istream>
#include <locale>
#include <string>

namespace std {

namespace {

using Traits = char_traits<char>;

bool isEnd(int C) { return Traits::eq_int_type(C, Traits::eof()); }

// How many characters may be taken of those that the buffer holds.
size_t held(const char *Next, const char *End, size_t Most) { return End > Next ? min<size_t>(End - Next, Most) : 0; }

// An exception of the buffer becomes a state; one that ends the thread goes on.
template <typename Take> void guarded(istream &In, Take take) {
    try {
        take();
    } catch (__cxxabiv1::__forced_unwind &) {
        In._M_setstate(ios_base::badbit);
        throw;
    } catch (...) {
        In._M_setstate(ios_base::badbit);
    }
}

} // namespace

template <> __attribute__((weak)) istream &getline(istream &In, string &Line, char End) {
    ios_base::iostate State = ios_base::goodbit;
    size_t Taken = 0;
    if (const istream::sentry IsReady(In, true); IsReady)
        guarded(In, [&] {
            Line.erase();
            streambuf *Buffer = In.rdbuf();
            const size_t Most = Line.max_size();
            const int EndCode = Traits::to_int_type(End);
            int C = Buffer->sgetc();
            while (Taken < Most && !isEnd(C) && C != EndCode) {
                size_t Size = held(Buffer->gptr(), Buffer->egptr(), Most - Taken);
                if (Size > 1) {
                    if (const char *Found = Traits::find(Buffer->gptr(), Size, End))
                        Size = Found - Buffer->gptr();
                    Line.append(Buffer->gptr(), Size);
                    Buffer->__safe_gbump(Size);
                    Taken += Size;
                    C = Buffer->sgetc();
                } else {
                    Line.push_back(Traits::to_char_type(C));
                    ++Taken;
                    C = Buffer->snextc();
                }
            }
            if (isEnd(C)) {
                State |= ios_base::eofbit;
            } else if (C == EndCode) {
                ++Taken;
                Buffer->sbumpc();
            } else {
                State |= ios_base::failbit;
            }
        });
    if (!Taken)
        State |= ios_base::failbit;
    if (State)
        In.setstate(State);
    return In;
}

template <> __attribute__((weak)) istream &operator>>(istream &In, string &Word) {
    ios_base::iostate State = ios_base::goodbit;
    size_t Taken = 0;
    if (const istream::sentry IsReady(In, false); IsReady)
        guarded(In, [&] {
            Word.erase();
            streambuf *Buffer = In.rdbuf();
            const streamsize Width = In.width();
            const size_t Most = Width > 0 ? Width : Word.max_size();
            const ctype<char> &Kinds = use_facet<ctype<char>>(In.getloc());
            int C = Buffer->sgetc();
            while (Taken < Most && !isEnd(C) && !Kinds.is(ctype_base::space, Traits::to_char_type(C))) {
                size_t Size = held(Buffer->gptr(), Buffer->egptr(), Most - Taken);
                if (Size > 1) {
                    const char *Begin = Buffer->gptr();
                    Size = Kinds.scan_is(ctype_base::space, Begin + 1, Begin + Size) - Begin;
                    Word.append(Begin, Size);
                    Buffer->__safe_gbump(Size);
                    Taken += Size;
                    C = Buffer->sgetc();
                } else {
                    Word.push_back(Traits::to_char_type(C));
                    ++Taken;
                    C = Buffer->snextc();
                }
            }
            if (Taken < Most && isEnd(C))
                State |= ios_base::eofbit;
            In.width(0);
        });
    if (!Taken)
        State |= ios_base::failbit;
    if (State)
        In.setstate(State);
    return In;
}

} // namespace std
