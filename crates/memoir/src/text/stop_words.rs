//! The most common words of some languages, which say little about what a text is about.
//! Short on purpose: articles, pronouns, prepositions, conjunctions, auxiliary verbs.

use super::params::Language;

/// The stop words of `language`, in lower case, separated by white space; `None` where we have no list.
pub(super) fn stop_words(language: Language) -> Option<&'static str> {
    match language {
        Language::Danish => Some(DANISH),
        Language::Dutch => Some(DUTCH),
        Language::English => Some(ENGLISH),
        Language::Finnish => Some(FINNISH),
        Language::French => Some(FRENCH),
        Language::German => Some(GERMAN),
        Language::Italian => Some(ITALIAN),
        Language::Norwegian => Some(NORWEGIAN),
        Language::Portuguese => Some(PORTUGUESE),
        Language::Russian => Some(RUSSIAN),
        Language::Spanish => Some(SPANISH),
        Language::Swedish => Some(SWEDISH),
        Language::Arabic
        | Language::Greek
        | Language::Hungarian
        | Language::Romanian
        | Language::Tamil
        | Language::Turkish => None,
    }
}

const ENGLISH: &str = "
    a an the this that these those i me my we us our you your he him his she her it its they them their who whom whose
    which what and or but nor if then than so as because while of at by for with about into through during to from in
    on off over under between after before up down out be am is are was were been being have has had having do does did
    doing will would shall should can could may might must not no there here when where why how all any each both more
    most other some such only own same too very just also";

const GERMAN: &str = "
    der die das den dem des ein eine einer einen einem eines und oder aber denn sondern wenn weil dass als wie ob ich
    mich mir du dich dir er ihn ihm sie ihr es wir uns euch ihnen mein dein sein seine seiner seinen seinem ihre ihrer
    ihren ihrem unser unsere in im ins an am auf aus bei beim bis durch für gegen mit nach ohne seit über um unter von
    vom vor während zu zum zur zwischen bin bist ist sind war waren wird werden wurde wurden worden hat haben hatte
    hatten kann können muss müssen soll sollen nicht kein keine keiner keinen auch nur noch schon so sehr hier dort da
    dann was wer wo man sich diese dieser dieses diesen diesem jede jeder jedes alle";

const FRENCH: &str = "
    le la les l un une des du de d au aux et ou mais donc or ni car que qu qui quoi dont où si comme je j me m tu te t il
    elle on nous vous ils elles se s lui leur leurs y en ce c cet cette ces mon ma mes ton ta tes son sa ses notre nos
    votre vos à dans par pour sur sous avec sans entre vers chez contre depuis pendant est es sont suis était étaient
    être été sera a ai as ont avait avoir eu ne n pas plus très aussi même tout toute tous toutes autre autres ainsi";

const SPANISH: &str = "
    el la los las un una unos unas lo al del de y e o u pero sino ni que quien quienes cual cuales cuyo donde cuando como
    si porque yo me mi mis tú te tu tus él ella ello ellos ellas se le les su sus nos nosotros nuestro nuestra vosotros a
    ante bajo con contra desde en entre hacia hasta para por según sin sobre tras es son era eran fue fueron ser sido
    siendo está están estar ha han había haber hay no ya más muy también este esta esto estos estas ese esa eso esos esas
    aquel aquella todo toda todos todas otro otra otros otras";

const ITALIAN: &str = "
    il lo la i gli le l un uno una del dello della dei degli delle dell al allo alla ai agli alle all dal dallo dalla dai
    dagli dalle dall nel nello nella nei negli nelle nell sul sullo sulla sui sugli sulle sull di a da in con su per tra
    fra e ed o ma né che chi cui quale quali se come dove quando perché io mi tu ti egli lui lei noi ci voi vi loro si
    mio mia tuo tua suo sua suoi sue nostro nostra questo questa questi queste quello quella quelli quelle è sono era
    erano essere stato stata sia ha hanno aveva avere ho non più anche molto tutto tutta tutti tutte altro altri";

const DUTCH: &str = "
    de het een en of maar want dus als dan dat die dit deze wie wat waar wanneer hoe omdat terwijl ik mij me mijn jij je
    jou jouw u uw hij hem zijn zij ze haar wij we ons onze jullie hun hen er in op aan uit bij door voor met van naar om
    onder over tegen tot tussen zonder te ter ten is ben bent was waren wordt worden werd werden heeft hebben had hadden
    kan kunnen zal zullen moet moeten niet geen ook nog wel al meer zeer zo hier daar zich alle andere";

const SWEDISH: &str = "
    en ett den det de dem denna detta dessa och eller men om när då som att för i på av till från med utan vid under över
    mellan mot genom efter före hos ur inom är var vara varit blir blev bli har hade ha kan kunde ska skall skulle vill
    måste jag mig min mitt mina du dig din ditt dina han honom hans hon henne hennes vi oss vår vårt våra ni er ert era
    deras sig sin sitt sina man inte ej också så mycket mer än här där vad vem vilken vilket vilka alla andra";

const DANISH: &str = "
    en et den det de dem denne dette disse og eller men om når da som at for i på af til fra med uden ved under over
    mellem mod gennem efter før hos ud ind er var være været bliver blev blive har havde have kan kunne skal skulle vil
    ville må måtte jeg mig min mit mine du dig din dit dine han ham hans hun hende hendes vi os vor vores jer jeres
    deres sig sin sit sine man ikke også så meget mere end her der hvad hvem hvilken hvilket hvilke alle andre";

const NORWEGIAN: &str = "
    en et ei den det de dem denne dette disse og eller men om når da som at for i på av til fra med uten ved under over
    mellom mot gjennom etter før hos ut inn er var være vært blir ble bli har hadde ha kan kunne skal skulle vil ville
    må måtte jeg meg min mitt mine du deg din ditt dine han ham hans hun henne hennes vi oss vår vårt våre dere deres
    seg sin sitt sine man ikke ikkje også så mye mer enn her der hva hvem hvilken hvilket hvilke alle andre";

const FINNISH: &str = "
    ja tai eli sekä mutta vaan että jos kun kuin koska vaikka joka jotka jonka jota jossa josta johon joiden joita joissa
    joista mikä mitä missä mistä mihin minkä kuka kenen minä minun minua sinä sinun sinua hän hänen häntä me meidän meitä
    te teidän teitä he heidän heitä se sen sitä siinä siitä siihen ne niiden niitä niissä niistä tämä tämän tätä tässä
    tästä nämä näiden näitä on oli ovat olivat ole ollut olla olisi ei en eivät eikä myös vain jo niin kanssa ennen
    jälkeen sillä mukaan kautta";

const PORTUGUESE: &str = "
    o a os as um uma uns umas do da dos das no na nos nas ao à aos às pelo pela pelos pelas num numa de em por para com
    sem sob sobre entre até desde contra e ou mas nem que quem qual quais cujo onde quando como se porque eu me mim meu
    minha tu te ti teu tua ele ela eles elas lhe lhes seu sua seus suas nosso nossa vós vos este esta isto estes estas
    esse essa isso esses essas aquele aquela aquilo é são era eram foi foram ser sido está estão estar há tem têm tinha
    ter não já mais muito também todo toda todos todas outro outra outros outras";

const RUSSIAN: &str = "
    и в во не что он на я с со как а то все всё она так его но да ты к ко у же вы за бы по её ее мне было от меня ещё еще
    нет о об из ему когда даже ли если уже или ни быть был была были него до вас опять вам при для мы их чем без чтобы
    под где есть над том тот эта это этот эти этого этой этом кто мой моя ты твой свой своя свои себя нас нам ними них
    которые который которая которое которых также только между через после перед более";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Analyzer, AnalyzerScratch, TextParams};

    #[test]
    fn lists_are_what_the_analyzer_makes_of_them() {
        let analyzer = Analyzer::new(&TextParams::default()).unwrap();
        let mut scratch = AnalyzerScratch::default();
        for list in [
            DANISH, DUTCH, ENGLISH, FINNISH, FRENCH, GERMAN, ITALIAN, NORWEGIAN, PORTUGUESE, RUSSIAN,
            SPANISH, SWEDISH,
        ] {
            for word in list.split_ascii_whitespace() {
                let mut tokens = Vec::new();
                analyzer.tokens(word, &mut scratch, |token| tokens.push(token.to_owned()));
                assert_eq!(tokens, [word]);
            }
        }
    }
}
