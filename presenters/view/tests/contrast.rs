//! The page's colours by the Web Content Accessibility Guidelines 2.2: text at least 4.5 to 1, what else must be seen 3 to 1,
//! in both schemes.

use std::collections::HashMap;

const COLOURS: &str = include_str!("../assets/style/colours.css");
const TABLES: &str = include_str!("../assets/style/tables.css");

type Colour = [f64; 3];

/// Colours by name, of the light and the dark scheme.
fn schemes() -> [HashMap<String, Colour>; 2] {
    let (light, dark) = COLOURS.split_once("@media (prefers-color-scheme: dark)").unwrap();
    [light, dark].map(|scheme| {
        let declarations = scheme
            .lines()
            .filter_map(|line| line.trim().strip_suffix(';')?.split_once(": #"));
        declarations
            .map(|(name, digits)| (name.to_owned(), colour(digits)))
            .collect()
    })
}

fn colour(digits: &str) -> Colour {
    [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0)
}

/// Relative luminance of an sRGB colour.
fn luminance(colour: Colour) -> f64 {
    let linear = |part: f64| match part <= 0.04045 {
        true => part / 12.92,
        false => ((part + 0.055) / 1.055).powf(2.4),
    };
    let [red, green, blue] = colour.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: Colour, other: Colour) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn mixed(one: Colour, other: Colour, part: f64) -> Colour {
    [0, 1, 2].map(|index| one[index] * part + other[index] * (1.0 - part))
}

#[test]
fn the_computation_is_that_of_the_guidelines() {
    assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
    assert!((contrast(colour("767676"), [1.0; 3]) - 4.54).abs() < 0.01);
}

#[test]
fn both_schemes_have_every_colour() {
    let [light, dark] = schemes();
    assert!(light.len() >= 18);
    let names = |scheme: &HashMap<String, Colour>| {
        let mut names: Vec<String> = scheme.keys().cloned().collect();
        names.sort();
        names
    };
    assert_eq!(names(&light), names(&dark));
}

#[test]
fn texts_can_be_read() {
    for scheme in schemes() {
        let texts = ["--text", "--muted", "--accent", "--good", "--bad", "--heat"];
        let curves: Vec<String> = (0..8).map(|number| format!("--curve-{number}")).collect();
        for text in texts.into_iter().chain(curves.iter().map(String::as_str)) {
            for ground in ["--background", "--surface"] {
                let ratio = contrast(scheme[text], scheme[ground]);
                assert!(ratio >= 4.5, "{text} on {ground}: {ratio:.2}");
            }
        }
    }
}

#[test]
fn controls_and_marks_can_be_seen() {
    for scheme in schemes() {
        for mark in ["--control-border", "--accent", "--heat", "--bad"] {
            let ratio = contrast(scheme[mark], scheme["--background"]);
            assert!(ratio >= 3.0, "{mark}: {ratio:.2}");
        }
        let filled = contrast(scheme["--heat"], scheme["--border"]);
        assert!(filled >= 3.0, "the filled part of a bar: {filled:.2}");
    }
}

/// Cells of matrices, fields of structures, hot lines: text stands on any mixture of the two.
#[test]
fn texts_can_be_read_on_heat() {
    assert!(TABLES
        .contains("color-mix(in srgb, var(--heat-strong) calc(var(--heat-part) * 100%), var(--background))"));
    for scheme in schemes() {
        // Frames of a flame graph that compares two traces have either.
        for colour in ["--heat-strong", "--cool-strong"] {
            for percent in 0..=100 {
                let ground = mixed(scheme[colour], scheme["--background"], f64::from(percent) / 100.0);
                let ratio = contrast(scheme["--text"], ground);
                assert!(ratio >= 4.5, "{colour}, {percent} %: {ratio:.2}");
            }
        }
        // A hot line of source has muted and accented texts, too.
        let hot = mixed(scheme["--heat-strong"], scheme["--background"], 0.22);
        for text in ["--text", "--muted", "--heat"] {
            let ratio = contrast(scheme[text], hot);
            assert!(ratio >= 4.5, "{text} on a hot line: {ratio:.2}");
        }
    }
}
