//! Whole reports, as a person reads them. Every file has more than one thing wrong with it.

use landfall_config::parse;

macro_rules! report {
    ($name:ident) => {
        #[test]
        fn $name() {
            let file = include_bytes!(concat!("fixtures/", stringify!($name), ".yaml"));
            insta::assert_snapshot!(parse(file).unwrap_err());
        }
    };
}

report!(typing_mistakes);
report!(networks);
report!(openshift);
report!(two_platforms);
report!(nothing_given);
