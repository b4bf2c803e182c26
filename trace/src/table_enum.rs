//! Enumerations whose values are written as bytes, or have names.

/// An enumeration all of whose values are known, with or without names for people.
macro_rules! table_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident = $value:literal $text:literal,)* }) => {
        $crate::table_enum::table_enum! {
            $(#[$doc])* $name { $($(#[$of_variant])* $variant = $value,)* }
        }

        impl $name {
            /// Name for people.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.name())
            }
        }
    };
    ($(#[$doc:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident = $value:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$of_variant])* $variant = $value,)*
        }

        impl $name {
            pub fn from_byte(byte: u8) -> Option<Self> {
                match byte {
                    $($value => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

/// An enumeration that newer versions may add values to, with the type of its numbers.
macro_rules! open_enum {
    (
        $(#[$doc:meta])*
        $name:ident: $number:ty { $($(#[$of_variant:meta])* $variant:ident = $value:literal $text:literal,)* }
    ) => {
        $crate::table_enum::open_enum! {
            $(#[$doc])* $name: $number { $($(#[$of_variant])* $variant = $value,)* }
        }

        impl $name {
            /// Name for people; `other` if unknown.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Other(_) => "other",
                }
            }
        }
    };
    (
        $(#[$doc:meta])*
        $name:ident: $number:ty { $($(#[$of_variant:meta])* $variant:ident = $value:literal,)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$of_variant])* $variant,)*
            /// A value that this version does not know.
            Other($number),
        }

        impl From<$number> for $name {
            fn from(value: $number) -> Self {
                match value {
                    $($value => Self::$variant,)*
                    other => Self::Other(other),
                }
            }
        }

        impl From<$name> for $number {
            fn from(value: $name) -> $number {
                match value {
                    $($name::$variant => $value,)*
                    $name::Other(other) => other,
                }
            }
        }
    };
}

/// An enumeration whose values have names for people.
#[macro_export]
macro_rules! named_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$of_variant])* $variant,)*
        }

        impl $name {
            pub const ALL: [$name; [$($text),*].len()] = [$($name::$variant),*];

            /// Name for people.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}

pub(crate) use {open_enum, table_enum};
