//! Where the objects of a split structure are, how each finds its rest, and how both come and go.

use trackway_analysis::whatif::Link;

use super::Names;
use crate::edits::{distinction, Edits};
use crate::refusal::{Possibly, Refusal};
use crate::structure::{above_comments, Structure};
use crate::uses::{Object, Span, Use, What};

/// A call of an allocator.
struct Allocation<'u> {
    found: &'u Use,
    callee: &'u str,
    callee_span: Span,
    /// It takes a number and a size, as calloc; else bytes, as malloc.
    is_counted: bool,
    function: usize,
}

/// All objects of the program.
pub struct Objects<'u> {
    pub link: Link,
    allocations: Vec<Allocation<'u>>,
    array: Option<(&'u Use, &'u Object)>,
}

impl<'u> Objects<'u> {
    pub fn of(structure: &Structure<'u>) -> Possibly<Objects<'u>> {
        let mut reasons = Vec::new();
        let mut allocations = Vec::new();
        let mut arrays = Vec::new();
        let mut is_once = true;
        for found in structure.uses {
            match &found.what {
                What::Object(object) if object.external => (),
                What::Object(object) if is_array(object) => arrays.push((found, object)),
                What::Object(object) => reasons.push(Refusal::at(found, not_in_array(object))),
                What::Allocation { once, .. } => {
                    is_once &= once;
                    match allocation(structure, found) {
                        Ok(allocation) => allocations.push(allocation),
                        Err(reason) => reasons.push(reason),
                    }
                }
                _ => (),
            }
        }
        is_once &= !structure.uses.iter().any(|found| found.what == What::MainAgain);
        let array = arrays.first().copied();
        match (arrays.len(), allocations.len()) {
            (0, 0) if reasons.is_empty() => {
                reasons.push(Refusal::new("the sources allocate no objects of it"));
            }
            (1, 0) => reasons.extend(
                array
                    .into_iter()
                    .flat_map(|array| uses_before(structure, array.0)),
            ),
            (0, _) => (),
            _ => reasons.push(Refusal::new(
                "its objects are in several global arrays, or in one and elsewhere",
            )),
        }
        match reasons.is_empty() {
            true => Ok(Objects {
                link: match array.is_some() || (allocations.len() == 1 && is_once) {
                    true => Link::Index,
                    false => Link::Pointer,
                },
                allocations,
                array,
            }),
            false => Err(reasons),
        }
    }

    /// Makes the rest come, go and be copied with the objects.
    pub fn edit(&self, structure: &Structure, names: &Names, edits: &mut Edits) -> Possibly<()> {
        match self.array {
            Some((found, object)) => beside_array(structure, found, object, names, edits)?,
            None if self.link == Link::Index => self.beside_allocation(structure, names, edits)?,
            None => (),
        }
        for allocation in &self.allocations {
            let file = &allocation.found.file;
            let (name, text) = self.allocating(allocation, names);
            let same = |other: &&Allocation| other.found.file == *file && other.callee == allocation.callee;
            let functions = self.allocations.iter().filter(same).map(|other| other.function);
            edits.insert(file, above_first(file, functions)?, text);
            edits.replace(file, allocation.callee_span, name);
        }
        for found in structure.uses {
            self.free(found, names, structure, edits)?;
            self.copy(found, names, structure, edits)?;
        }
        Ok(())
    }

    /// The place in the array leads to the place among the rests.
    fn beside_allocation(&self, structure: &Structure, names: &Names, edits: &mut Edits) -> Possibly<()> {
        let Names {
            whole, scope, rest, ..
        } = names;
        let rest_type = names.rest_type();
        let is_local = self
            .allocations
            .iter()
            .all(|one| one.found.file == structure.file());
        let storage = if is_local { "static" } else { "extern" };
        let text = format!(
            "\n\n{storage} {whole} *{rest}_owners;\n{storage} struct {rest} *{rest}_array;\n\n\
             static inline struct {rest} *{rest}(const {whole} *object) {{\n    \
             return {rest}_array + (object - {rest}_owners);\n}}"
        );
        edits.insert(structure.file(), structure.end()?, text);
        if !is_local {
            for Allocation { found, function, .. } in &self.allocations {
                let text = format!("{whole} *{scope}{rest}_owners;\n{rest_type} *{scope}{rest}_array;\n\n");
                edits.insert(&found.file, above_first(&found.file, [*function])?, text);
            }
        }
        Ok(())
    }

    /// A function that allocates both parts, and its name.
    fn allocating(&self, allocation: &Allocation, names: &Names) -> (String, String) {
        let Names {
            whole,
            scope,
            rest,
            link,
        } = names;
        let rest_type = names.rest_type();
        let callee = allocation.callee;
        let (parameters, bytes) = match allocation.is_counted {
            true => ("size_t number, size_t size", "number * size"),
            false => ("size_t bytes", "bytes"),
        };
        let arguments = |name: &str| match allocation.is_counted {
            true => format!("count, sizeof({name})"),
            false => format!("count * sizeof({name})"),
        };
        // A block of no objects is given back by way of its first.
        let at_least_one = match self.link {
            Link::Pointer => "    if (count == 0)\n        count = 1;\n",
            Link::Index => "",
        };
        let connect = match self.link {
            Link::Index => format!("    {scope}{rest}_owners = objects;\n    {scope}{rest}_array = rests;\n"),
            Link::Pointer => {
                format!("    for (size_t i = 0; i < count; i++)\n        objects[i].{link} = rests + i;\n")
            }
        };
        let give_back = match callee {
            "malloc" | "calloc" => "        free(objects);\n        free(rests);\n",
            _ => "",
        };
        let files = self.allocations.iter().map(|one| one.found.file.as_str());
        let name = format!("{rest}_{callee}{}", distinction(&allocation.found.file, files));
        let text = format!(
            "static inline {whole} *{name}({parameters}) {{\n    \
             size_t count = {bytes} / sizeof({whole});\n{at_least_one}    \
             {whole} *objects = ({whole} *){callee}({});\n    \
             {rest_type} *rests = ({rest_type} *){callee}({});\n    \
             if (!objects || !rests) {{\n{give_back}        return NULL;\n    }}\n\
             {connect}    return objects;\n}}\n\n",
            arguments(whole),
            arguments(&rest_type),
        );
        (name, text)
    }

    fn free(&self, found: &Use, names: &Names, structure: &Structure, edits: &mut Edits) -> Possibly<()> {
        let Some((callee, call, _)) = freeing(found) else {
            return Ok(());
        };
        let span = call.ok_or_else(|| vec![Refusal::at(found, "a macro frees objects")])?;
        let Names {
            whole,
            scope,
            rest,
            link,
        } = names;
        let rests = match self.link {
            Link::Index => format!("{scope}{rest}_array"),
            Link::Pointer => format!("objects->{link}"),
        };
        let all = structure.uses.iter().filter(|other| freeing(other).is_some());
        let name = format!(
            "{rest}_{callee}{}",
            distinction(&found.file, all.map(|other| other.file.as_str()))
        );
        let text = format!(
            "static inline void {name}({whole} *objects) {{\n    \
             if (objects)\n        {callee}({rests});\n    {callee}(objects);\n}}\n\n"
        );
        let alike = structure
            .uses
            .iter()
            .filter(|other| other.file == found.file)
            .filter_map(freeing);
        let functions = alike
            .filter(|other| other.0 == callee)
            .filter_map(|(_, _, function)| function);
        edits.insert(&found.file, above_first(&found.file, functions)?, text);
        edits.replace(&found.file, span, name);
        Ok(())
    }

    fn copy(&self, found: &Use, names: &Names, structure: &Structure, edits: &mut Edits) -> Possibly<()> {
        let What::Copy {
            left: Some(left),
            right: Some(right),
            ..
        } = &found.what
        else {
            return Ok(());
        };
        let Names {
            whole,
            scope,
            rest,
            link,
        } = names;
        let copying = match self.link {
            Link::Index => format!("    *to = *from;\n    *{rest}(to) = *{rest}(from);\n"),
            Link::Pointer => format!(
                "    struct {rest} *own = to->{link};\n    *to = *from;\n    to->{link} = own;\n    *own = *from->{link};\n"
            ),
        };
        let text =
            format!("\n\nstatic inline void {rest}_copy({whole} *to, const {whole} *from) {{\n{copying}}}");
        let (file, after) = match self.array {
            Some((array, _)) => (array.file.as_str(), end_of_array(structure, array)?),
            None => (structure.file(), structure.end()?),
        };
        edits.insert_last(file, after, text);
        edits.wrap(&found.file, *left, &format!("{scope}{rest}_copy(&("), ")");
        edits.replace(&found.file, (left.1, right.0), ", &(");
        edits.insert(&found.file, right.1, "))");
        Ok(())
    }
}

/// Where objects are given back: the callee's name and place, and the function around it.
fn freeing(found: &Use) -> Option<(&str, Option<Span>, Option<usize>)> {
    match &found.what {
        What::Passed {
            callee,
            callee_span,
            frees: true,
            function,
            ..
        } => Some((callee, *callee_span, *function)),
        _ => None,
    }
}

/// Above the first of some functions of a file, and above its comments.
fn above_first(file: &str, functions: impl IntoIterator<Item = usize>) -> Possibly<usize> {
    let text =
        std::fs::read_to_string(file).map_err(|error| vec![Refusal::new(format!("{file}: {error}"))])?;
    let first = functions.into_iter().min();
    first.map(|first| above_comments(&text, first)).ok_or_else(|| {
        vec![Refusal::new(format!(
            "{file}: a macro makes the function that allocates"
        ))]
    })
}

fn allocation<'u>(structure: &Structure, found: &'u Use) -> Result<Allocation<'u>, Refusal> {
    let What::Allocation {
        callee,
        callee_span,
        arguments,
        sized,
        function,
        ..
    } = &found.what
    else {
        return Err(Refusal::at(found, "no allocation"));
    };
    if !sized {
        return Err(Refusal::at(
            found,
            "objects are allocated by other sizes than multiples of their own",
        ));
    }
    let is_counted = match arguments[..] {
        [Some(_)] => false,
        [_, Some(size)] if !callee.contains("align") && is_size(structure, found, size) => true,
        _ => return Err(Refusal::at(found, format!("objects are allocated by {callee}"))),
    };
    match (callee_span, function) {
        (Some(span), Some(function)) => Ok(Allocation {
            found,
            callee,
            callee_span: *span,
            is_counted,
            function: *function,
        }),
        _ => Err(Refusal::at(found, "a macro allocates objects")),
    }
}

/// Whether that is `sizeof` the structure, and nothing else.
fn is_size(structure: &Structure, found: &Use, (begin, end): Span) -> bool {
    structure.uses.iter().any(|other| {
        let is_size = matches!(other.what, What::Sizeof { .. });
        is_size && other.file == found.file && (other.begin, other.end) == (begin, end)
    })
}

fn is_array(object: &Object) -> bool {
    object.what == "global" && object.row && !object.initialised && !object.each_thread
}

fn not_in_array(object: &Object) -> String {
    let Object { what, name, .. } = object;
    match what.as_str() {
        "result" => format!("{name} returns an object by value"),
        "parameter" => format!("an object is passed by value, as {name}"),
        "field" | "union" => format!("another structure holds objects, as {name}"),
        "local" => format!("there is an object on the stack, {name}"),
        _ => format!("{name} is no plain array of objects"),
    }
}

/// Uses of fields that the compiler sees before the array.
fn uses_before(structure: &Structure, array: &Use) -> Vec<Refusal> {
    let before = structure.uses.iter().filter(|found| {
        let is_use = matches!(found.what, What::Member { .. } | What::Copy { .. });
        is_use && (found.file != array.file || found.begin < array.begin)
    });
    before
        .map(|found| {
            Refusal::at(
                found,
                "an object is used before its array is declared, or in another file",
            )
        })
        .collect()
}

/// After the semicolon of an array's declaration.
fn end_of_array(structure: &Structure, array: &Use) -> Possibly<usize> {
    let refuse = |why: &str| vec![Refusal::at(array, why)];
    let text = text_of(structure, array).map_err(|why| refuse(&why))?;
    let rest = &text[array.end..];
    match rest.trim_start().starts_with(';') && !text[array.begin..array.end].contains(',') {
        true => Ok(array.end + rest.find(';').map_or(0, |semicolon| semicolon + 1)),
        false => Err(refuse("the array is declared together with others")),
    }
}

fn text_of(structure: &Structure, found: &Use) -> Result<String, String> {
    match found.file == structure.file() {
        true => Ok(structure.source.clone()),
        false => std::fs::read_to_string(&found.file).map_err(|error| error.to_string()),
    }
}

/// A second array, with as many elements.
fn beside_array(
    structure: &Structure,
    found: &Use,
    object: &Object,
    names: &Names,
    edits: &mut Edits,
) -> Possibly<()> {
    let refuse = |why: &str| vec![Refusal::at(found, why)];
    let text = text_of(structure, found).map_err(|why| refuse(&why))?;
    let name = object
        .name_span
        .ok_or_else(|| refuse("a macro declares the array"))?;
    let extents = &text[name.1..found.end];
    let storage = if object.r#static { "static " } else { "" };
    let Names { whole, rest, .. } = names;
    let array = &object.name;
    let declared = format!(
        "\n{storage}struct {rest} {rest}_array{extents};\n\n\
         static inline struct {rest} *{rest}(const {whole} *object) {{\n    \
         return {rest}_array + (object - {array});\n}}"
    );
    edits.insert(&found.file, end_of_array(structure, found)?, declared);
    Ok(())
}
