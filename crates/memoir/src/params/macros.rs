//! The macros that define parameters.

/// Defines the parameters of an algorithm, once for everybody who needs them.
///
/// A field has a documentation comment, which is also its help text; a type ([`ParameterType`]); a default,
/// written as a user would write it, with `"auto"` for what is left to the algorithm (the type is then an
/// `Option`); and a range, unless the type says it all. A last line `..name: Type;` adds the parameters of
/// another set, with other defaults where these are named.
///
/// The result is a struct with public fields, `Default`, a setter for each field and [`Parameters`]: the
/// table for command lines, checked construction from texts, range checks, and a list of all values. A
/// default that does not suit the type, and a range that the type cannot hold, are errors of the compiler.
///
/// ```
/// use memoir::params::{Kind, Parameters};
///
/// memoir::choices! {
///     /// What a mistake costs.
///     pub enum Loss {
///         /// As much as it is large.
///         Hinge = "hinge",
///         /// More, the larger it is.
///         SquaredHinge = "squared-hinge",
///     }
/// }
///
/// memoir::parameters! {
///     /// Parameters of an algorithm.
///     pub struct Params {
///         /// Passes over the rows
///         max_passes: usize = "20" in Kind::Integer(1, 1000);
///         /// Rows of a batch; auto: the square root of their number
///         batch: Option<usize> = "auto" in Kind::Integer(1, 1_000_000);
///         /// What a mistake costs
///         loss: Loss = "hinge";
///     }
/// }
///
/// let params = Params::default().max_passes(5).loss(Loss::SquaredHinge);
/// assert_eq!((params.max_passes, params.batch), (5, None));
/// assert_eq!(Params::parse([("max-passes", "7")])?.max_passes, 7);
/// let wrong = Params::default().max_passes(0).check().unwrap_err();
/// assert_eq!(wrong.to_string(), "`max-passes` must be a whole number from 1 to 1,000, but is `0`");
/// # Ok::<(), memoir::Error>(())
/// ```
///
/// [`ParameterType`]: crate::params::ParameterType
/// [`Parameters`]: crate::params::Parameters
#[macro_export]
macro_rules! parameters {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[doc = $help:literal])+
                $field:ident: $type:ty = $default:literal $(in $kind:expr)?;
            )*
            $(..$group:ident: $group_type:ty $(, with $($other:literal = $other_default:literal),+)?;)?
        }
    ) => {
        $(#[$attribute])*
        #[allow(clippy::doc_markdown)] // Help texts are plain texts.
        #[derive(Debug, Clone, PartialEq)]
        $visibility struct $name {
            $(
                $(#[doc = $help])+
                #[doc = concat!("\n\nDefault: `", $default, "`.")]
                pub $field: $type,
            )*
            $(
                #[doc = concat!("The parameters of [`", stringify!($group_type), "`].")]
                pub $group: $group_type,
            )?
        }

        impl Default for $name {
            fn default() -> Self {
                let default = |spec: &$crate::params::Spec| spec.parse(spec.default).ok();
                // A default that the table's own range refuses would be a mistake in the definition; tests
                // look for it.
                #[allow(unused_mut)]
                let mut specs = <Self as $crate::params::Parameters>::SPECS.iter();
                Self {
                    $(
                        $field: specs
                            .next()
                            .and_then(default)
                            .and_then(|value| <$type as $crate::params::ParameterType>::from_value(&value))
                            .expect(concat!("the default of `", stringify!($field), "` is legal")),
                    )*
                    $(
                        $group: {
                            #[allow(unused_mut)]
                            let mut group = <$group_type>::default();
                            $($(
                                $crate::params::Parameters::set(&mut group, $other, $other_default)
                                    .expect(concat!("`", $other, "` can be ", $other_default));
                            )+)?
                            group
                        },
                    )?
                }
            }
        }

        #[allow(unreachable_pub, clippy::doc_markdown)] // Public as far as the struct is; help texts are plain.
        impl $name {
            $(
                $(#[doc = $help])+
                #[doc = concat!("\n\nDefault: `", $default, "`", $("; legal: `", stringify!($kind), "`",)? ".")]
                #[must_use]
                pub fn $field(
                    mut self,
                    $field: <$type as $crate::params::ParameterType>::Given,
                ) -> Self {
                    self.$field = <$type as $crate::params::ParameterType>::given($field);
                    self
                }
            )*
            $(
                #[doc = concat!("Sets the parameters of [`", stringify!($group_type), "`].")]
                #[must_use]
                pub fn $group(mut self, $group: $group_type) -> Self {
                    self.$group = $group;
                    self
                }
            )?
        }

        impl $crate::params::Parameters for $name {
            const SPECS: &'static [$crate::params::Spec] = {
                const OWN: &[$crate::params::Spec] = &[
                    $({
                        let kind = $crate::parameters!(@kind $type $(, $kind)?);
                        let wide = <$type as $crate::params::ParameterType>::KIND;
                        assert!($crate::params::narrows(kind, wide), "the type cannot hold the range");
                        let spec = $crate::params::Spec {
                            name: $crate::parameters!(@name $field),
                            kind,
                            default: $default,
                            help: concat!($($help),+).trim_ascii_start(),
                        };
                        assert!(
                            spec.is_automatic() == <$type as $crate::params::ParameterType>::AUTOMATIC,
                            "an `Option` has the default `auto`, and nothing else has"
                        );
                        spec
                    }),*
                ];
                const GROUP: &[$crate::params::Spec] = $crate::parameters!(@group $($group_type)?);
                const ALL: [$crate::params::Spec; OWN.len() + GROUP.len()] =
                    $crate::params::join_tables(OWN, GROUP, &[$($($(($other, $other_default)),+)?)?]);
                &ALL
            };

            fn put(&mut self, name: &str, value: &$crate::params::Value) -> bool {
                $(
                    if name == $crate::parameters!(@name $field) {
                        let value = <$type as $crate::params::ParameterType>::from_value(value);
                        return value.is_some_and(|value| {
                            self.$field = value;
                            true
                        });
                    }
                )*
                $(
                    if $crate::params::Parameters::put(&mut self.$group, name, value) {
                        return true;
                    }
                )?
                false
            }

            fn values(&self) -> Vec<(&'static str, $crate::params::Value)> {
                #[allow(unused_mut)]
                let mut values = vec![
                    $((
                        $crate::parameters!(@name $field),
                        $crate::params::ParameterType::to_value(&self.$field),
                    )),*
                ];
                $(values.extend($crate::params::Parameters::values(&self.$group));)?
                values
            }
        }
    };
    (@kind $type:ty, $kind:expr) => { $kind };
    (@kind $type:ty) => { <$type as $crate::params::ParameterType>::KIND };
    (@group $type:ty) => { <$type as $crate::params::Parameters>::SPECS };
    (@group) => { &[] };
    (@name $field:ident) => {{
        const NAME: [u8; stringify!($field).len()] = $crate::params::kebab_case(stringify!($field));
        const TEXT: &str = match std::str::from_utf8(&NAME) {
            Ok(name) => name,
            Err(_) => panic!("a name of a field is text"),
        };
        TEXT
    }};
}

/// Defines an enum whose values users choose by a word, for [`parameters!`](crate::parameters).
#[macro_export]
macro_rules! choices {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $(
                $(#[$variant_attribute:meta])*
                $variant:ident = $word:literal,
            )+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visibility enum $name {
            $(
                $(#[$variant_attribute])*
                $variant,
            )+
        }

        #[allow(unreachable_pub)] // Public as far as the enum is.
        impl $name {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// What users call it.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl $crate::params::ParameterType for $name {
            type Given = Self;
            const KIND: $crate::params::Kind = $crate::params::Kind::Choice(&[$($word),+]);

            fn given(given: Self) -> Self {
                given
            }

            fn from_value(value: &$crate::params::Value) -> Option<Self> {
                let $crate::params::Value::Word(word) = value else {
                    return None;
                };
                Self::ALL.iter().copied().find(|choice| choice.word() == word)
            }

            fn to_value(&self) -> $crate::params::Value {
                $crate::params::Value::Word(self.word().to_owned())
            }
        }
    };
}

/// [`parameters!`](crate::parameters) for an algorithm of this crate: [`Classifier`](crate::Classifier) gets
/// the setters, too.
macro_rules! own_parameters {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[doc = $help:literal])+
                $field:ident: $type:ty = $default:literal $(in $kind:expr)?;
            )*
            $(..$group:ident: $group_type:ty $(, with $($other:literal = $other_default:literal),+)?;)?
        }
    ) => {
        $crate::parameters! {
            $(#[$attribute])*
            $visibility struct $name {
                $(
                    $(#[doc = $help])+
                    $field: $type = $default $(in $kind)?;
                )*
                $(..$group: $group_type $(, with $($other = $other_default),+)?;)?
            }
        }

        #[allow(clippy::doc_markdown)] // Help texts are plain texts.
        impl $crate::Classifier<'_, $name> {
            $(
                $(#[doc = $help])+
                #[doc = concat!("\n\nDefault: `", $default, "`", $("; legal: `", stringify!($kind), "`",)? ".")]
                pub fn $field(self, $field: <$type as $crate::params::ParameterType>::Given) -> Self {
                    self.map_params(|params| params.$field($field))
                }
            )*
            $(
                #[doc = concat!("Sets the parameters of [`", stringify!($group_type), "`].")]
                pub fn $group(self, $group: $group_type) -> Self {
                    self.map_params(|params| params.$group($group))
                }
            )?
        }
    };
}

pub(crate) use own_parameters;
