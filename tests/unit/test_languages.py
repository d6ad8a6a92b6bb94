"""Languages: which one a text is in, its stop words and stems, and words without spaces."""

import sys
from itertools import permutations

import numpy as np
import pytest

from grampus import DocumentClusterer
from grampus.errors import InputError
from grampus.text import Terms, TermVectorizer, detect_language, stop_words
from grampus.text.languages import segment
from grampus.text.languages.segment import complex_words, is_unspaced, segment_words, separate_words
from grampus.text.languages.table import LANGUAGES, find_language, list_words

SENTENCES = {
    "cs": "Velryba je savec, který žije v moři a dýchá plícemi, protože nemá žábry jako ryby.",
    "da": "Hvalen er et pattedyr, der lever i havet og trækker vejret med lunger, fordi den ikke har gæller.",
    "de": "Der Wal ist ein Säugetier, das im Meer lebt und mit Lungen atmet, weil es keine Kiemen hat.",
    "el": "Η φάλαινα είναι θηλαστικό που ζει στη θάλασσα και αναπνέει με πνεύμονες.",
    "en": "The whale is a mammal that lives in the sea and breathes with its lungs, because it has no gills.",
    "es": "La ballena es un mamífero que vive en el mar y respira con pulmones porque no tiene branquias.",
    "fi": "Valas on nisäkäs, joka elää meressä ja hengittää keuhkoilla, koska sillä ei ole kiduksia.",
    "fr": "La baleine est un mammifère qui vit dans la mer et respire avec des poumons, car elle n'a pas de branchies.",
    "hu": "A bálna olyan emlős, amely a tengerben él és tüdővel lélegzik, mert nincs kopoltyúja, mint a halaknak.",
    "it": "La balena è un mammifero che vive nel mare e respira con i polmoni perché non ha le branchie dei pesci.",
    "ja": "クジラは海に住む哺乳類で、えらがないので肺で呼吸する。",
    "ko": "고래는 바다에 사는 포유류이며 아가미가 없어서 폐로 숨을 쉰다.",
    "nl": "De walvis is een zoogdier dat in de zee leeft en met longen ademt, omdat het geen kieuwen heeft.",
    "pl": "Wieloryb jest ssakiem, który żyje w morzu i oddycha płucami, ponieważ nie ma skrzeli tak jak ryby.",
    "pt": "A baleia é um mamífero que vive no mar e respira com os pulmões, porque não tem as guelras dos peixes.",
    "ru": "Кит — это млекопитающее, которое живёт в море и дышит лёгкими, потому что у него нет жабр.",
    "sv": "Valen är ett däggdjur som lever i havet och andas med lungor eftersom den inte har några gälar.",
    "th": "วาฬเป็นสัตว์เลี้ยงลูกด้วยนมที่อาศัยอยู่ในทะเล",
    "tr": "Balina denizde yaşayan bir memelidir ve solungaçları olmadığı için akciğerleri ile nefes alır.",
    "uk": "Кит — це ссавець, який живе в морі та дихає легенями, бо він не має зябер.",
    "zh": "鲸是生活在海里的哺乳动物，它没有鳃，用肺呼吸。",
}  # fmt: skip
GERMAN = [f"Die {a} und der {b} sind mit einem {c} in den Bergen, aber sie haben es nicht gesehen." for a, b, c in
          permutations(("Katzen", "Katze", "Hunde", "Hund", "Vogel"), 3)]  # fmt: skip


@pytest.mark.parametrize("code", sorted(SENTENCES))
def test_one_sentence_is_enough(code):
    assert detect_language(SENTENCES[code]) == code


def test_the_sentences_cover_at_least_twenty_languages_and_lists_twenty_five():
    assert len(SENTENCES) >= 20
    assert sum(bool(list_words(code)) for code in LANGUAGES) >= 25


@pytest.mark.parametrize("text", ["", "whale", "123 456", "null pointer exception java", "x = f(y) + 1", "\ud800"])
def test_too_little_to_tell(text):
    assert detect_language(text) == ""


def test_only_languages_that_come_into_question():
    assert detect_language(SENTENCES["de"], among=("en", "fr")) in ("", "fr", "en")
    assert detect_language(SENTENCES["ja"], among=("en",)) == ""
    assert detect_language(SENTENCES["de"], among=("en", "de")) == "de"


def test_code_with_german_comments_is_german():
    code = "for (i = 0; i < n; i++) { printf(value[i]); }\n" * 5
    assert detect_language(code + SENTENCES["de"]) == "de"


@pytest.mark.parametrize(
    ("name", "code"), [("de", "de"), ("German", "de"), ("pt_BR", "pt"), ("zh-TW", "zh"), ("nb", "no")]
)
def test_names_of_languages(name, code):
    assert find_language(name).code == code


def test_an_unknown_language():
    with pytest.raises(InputError, match=r"language must be 'auto', a code or an English name.*got 'Klingon'"):
        find_language("Klingon")
    with pytest.raises(InputError, match="stemmer must be None, 'auto', a language such as"):
        Terms(stemmer="klingon").fit(["whale"])


def test_german_texts_have_german_stems_and_stop_words_without_an_option():
    terms = Terms(stop_words="auto", stemmer="auto").fit(GERMAN)
    assert terms.preparation_.languages == ("de",)
    assert set(terms.vocabulary_) == {"berg", "geseh", "hund", "katz", "vogel"}
    same = Terms(stop_words="de", stemmer="de").fit(GERMAN)
    assert same.vocabulary_ == terms.vocabulary_
    new = terms.prepare([SENTENCES["en"], "Hunde"])  # read as German, in which alone there are terms
    assert (new.preparation.languages, new.language.tolist()) == (("de",), [0, 0])


def test_english_terms_are_what_they_were():
    english = [SENTENCES["en"], "Whales were singing to the birds.", "song", "don't"]
    before, now = Terms(), Terms(stop_words="auto", stemmer="auto", clean=True)
    np.testing.assert_array_equal(before.fit_transform(english).toarray(), now.fit_transform(english).toarray())
    assert before.vocabulary_ == now.vocabulary_


def test_a_mixed_collection_is_stemmed_by_document_in_any_order():
    mixed = [*GERMAN[:20], *[f"{SENTENCES['en']} Number {n}: the dogs and the cats." for n in range(30)], "Katzen dogs"]
    order = np.random.default_rng(0).permutation(len(mixed))
    one, other = (Terms(stop_words="auto", stemmer="auto") for _ in range(2))
    x = one.fit_transform(mixed)
    y = other.fit_transform([mixed[i] for i in order])
    assert one.vocabulary_ == other.vocabulary_
    np.testing.assert_array_equal(x[order].toarray(), y.toarray())
    assert one.preparation_.languages == ("en", "de")
    assert {"katz", "cat", "dog", "hund"} <= set(one.vocabulary_)
    np.testing.assert_array_equal(one.transform(mixed).toarray(), x.toarray())


def test_a_few_strays_are_read_as_the_main_language():
    texts = [f"{SENTENCES['en']} {n}" for n in range(150)] + [SENTENCES["de"]]
    assert Terms(stop_words="auto", stemmer="auto").fit(texts).preparation_.languages == ("en",)


def test_the_run_holds_the_mix_and_a_note_says_it():
    texts = [*GERMAN[:12], *[f"{SENTENCES['en']} The dog {n} and the cat {n}." for n in range(12)]]
    run = DocumentClusterer(2).fit(texts).run_
    assert run.provenance.languages == {"de": 12, "en": 12}
    assert any(note.startswith("Languages: German 12, English 12.") for note in run.evidence.warnings)


def test_stop_lists_of_languages():
    assert {"der", "und"} <= stop_words("de")
    assert "the" in stop_words("ja")  # texts in other scripts hold English words
    assert "the" not in stop_words("de")
    assert stop_words("auto", "fr") == stop_words("fr")
    assert stop_words("en") == stop_words("smart")


def test_the_stop_list_of_a_mixed_collection_is_that_of_its_languages():
    texts = [*GERMAN[:10], *[f"{SENTENCES['en']} {n}" for n in range(10)]]
    fitted = Terms(stop_words="auto", stemmer="auto").fit(texts)
    assert fitted.stop_list() == stop_words("de") | stop_words("en")
    assert Terms(stop_words=["the"]).fit(texts).stop_list() == {"the"}


def test_words_of_scripts_without_spaces():
    pytest.importorskip("icu4py")
    assert separate_words("文件系统abc").split() == ["文件", "系统", "abc"]
    assert separate_words("説明を参照してください").split() == ["説明", "参照"]  # not くだ and さい
    terms = Terms(stop_words="auto", stemmer="auto").fit(["ファイルシステムを作成する Linux コマンド", "文件系统"])
    assert {"ファイル", "システム", "作成", "コマンド", "linux", "文件", "系统"} <= set(terms.vocabulary_)


def test_pairs_of_chinese_characters_are_terms_beside_words_but_not_in_names():
    pytest.importorskip("icu4py")
    assert complex_words("文件系统abc") == ["文件", "系统", "abc", "件系"]
    assert "マン" not in complex_words("コマンド作成方法")  # of katakana there are words alone
    assert segment_words("文件系统") == ["文件", "系统"]
    terms = Terms(stop_words="auto", stemmer="auto").fit(["新冠疫苗接种", "疫苗接种点"])
    assert {"疫苗", "苗接", "接种"} <= set(terms.vocabulary_)


def test_without_icu_there_are_pairs_and_a_hint(monkeypatch):
    monkeypatch.setitem(sys.modules, "icu4py", None)
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    segment.has_segmenter.cache_clear()
    try:
        assert separate_words("操作系统").split() == complex_words("操作系统") == ["操作", "作系", "系统"]
        assert separate_words("ファイルを作成する").split() == ["ファイル", "作成"]
        assert segment_words("ファイルを作成する") == ["ファイル", "作成"]
        assert segment_words("鲸是生活在海里的") == []  # no part of a word
        prepared = TermVectorizer(stop_words="auto", stemmer="auto").prepare(["鲸是生活在海里的哺乳动物"])
        assert prepared.notes()[-1].endswith("pip install 'grampus[cjk]'.")
    finally:
        segment.has_segmenter.cache_clear()


@pytest.mark.parametrize(
    ("text", "unspaced"), [("鯨は歌う", True), ("ปลาวาฬ", True), ("고래가 바다", False), ("a 鯨 whale sings", False)]
)
def test_scripts_without_spaces(text, unspaced):
    assert is_unspaced(text) == unspaced


def test_vowel_signs_do_not_cut_words():
    terms = Terms(stop_words=None, stemmer=None).fit(["व्हेल गाती है", "cafe\u0301 noir"])
    assert set(terms.vocabulary_) == {"व्हेल", "गाती", "है", "cafe\u0301", "noir"}


def test_a_large_collection_in_one_language_is_told_by_a_sample(monkeypatch):
    from grampus.text.terms import prepare as prepared

    english = [f"the whale number {i} was in the deep sea and it sang of the ship" for i in range(300)]
    german = [f"der Wal Nummer {i} war in der tiefen See und er sang von dem Schiff" for i in range(300)]
    monkeypatch.setattr(prepared, "_LARGE", 200)
    monkeypatch.setattr(prepared, "_SAMPLE", 50)
    seen = []
    monkeypatch.setattr(
        prepared,
        "detect_languages",
        lambda texts, among=None: [seen.append(text) or detect_language(text) for text in texts],
    )
    assert prepared.prepare(english, None, detect=True).counts() == {"en": 300}
    assert 10 < len(seen) < 150
    assert prepared.prepare([*english, *german], None, detect=True).counts() == {"de": 300, "en": 300}


@pytest.mark.skipif(not segment.has_segmenter(), reason="needs the extra [cjk]")
def test_words_of_katakana_are_whole():
    assert segment_words("パーティションとファイルシステム") == ["パーティション", "ファイル", "システム"]
