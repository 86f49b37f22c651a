"""The search tool finds the right document of the help center, and never breaks on a query."""

import inspect
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools import docs_index, docs_shared
from tools.docs_index import DocsFolderError, DocsIndex
from tools.search_docs import HELP_CENTER, search_docs, search_docs_in

EXPECTED = [
    ("how long does it take to get my money back", "Refund policy"),
    ("what is your refund policy?", "Refund policy"),
    ("I opened the box, can I still get a refund?", "Refund policy"),
    ("how is a prorated refund calculated", "Prorated refunds for plans"),
    ("I cancelled my yearly plan after one day, what do I get back?", "Prorated refunds for plans"),
    ("refund for unused days of a plan", "Prorated refunds for plans"),
    ("how do I cancel my subscription", "Cancelling a plan"),
    ("turn off automatic renewal", "Cancelling a plan"),
    ("what happens to my files when I cancel", "Cancelling a plan"),
    ("how much is express shipping", "Shipping times and costs"),
    ("is shipping free?", "Shipping times and costs"),
    ("do you deliver to PO boxes", "Shipping times and costs"),
    ("do you ship to Canada", "International shipping"),
    ("customs duties Germany", "International shipping"),
    ("my parcel never arrived", "Tracking an order and missing parcels"),
    ("where is my order", "Tracking an order and missing parcels"),
    ("package says delivered but it is not here", "Tracking an order and missing parcels"),
    ("how do I send an item back", "Returning an item"),
    ("return label cost", "Returning an item"),
    ("can I exchange it for a different color", "Returning an item"),
    ("what does the warranty cover", "Limited warranty"),
    ("how to make a warranty claim", "Limited warranty"),
    ("what does error E-4042 mean", "Error E-4042: payment not authorized"),
    ("e4042", "Error E-4042: payment not authorized"),
    ("E 4042 at checkout", "Error E-4042: payment not authorized"),
    ("error code E-5020", "Error codes"),
    ("my card was declined by the bank", "Error E-4042: payment not authorized"),
    ("who acquired Acme", "Acme Corp is now part of Globex"),
    ("which company bought Acme Corp?", "Acme Corp is now part of Globex"),
    ("Globex earbuds warranty", "Globex wireless earbuds"),
    ("how long is the warranty on Globex wireless earbuds", "Globex wireless earbuds"),
    ("only one earbud is working Globex", "Globex wireless earbuds"),
    ("can I swim with the Initech earbuds", "Initech sport earbuds"),
    ("speaker battery life", "Umbrella portable speaker"),
    ("how much does the Plus plan cost per year", "Plans and prices"),
    ("what plans are there and what do they cost", "Plans and prices"),
    ("student discount", "Plans and prices"),
    ("free trial", "Plans and prices"),
    ("upgrade from Plus to Business", "Changing your plan"),
    ("switch from monthly to yearly", "Changing your plan"),
    ("where can I download an invoice", "Billing and invoices"),
    ("I was charged twice", "Billing and invoices"),
    ("do you take PayPal", "Payment methods"),
    ("change my credit card", "Payment methods"),
    ("I forgot my password", "Account and password"),
    ("how do I set up two-factor authentication", "Account and password"),
    ("delete my account", "Privacy and your data"),
    ("where is my data stored", "Privacy and your data"),
    ("how can I talk to a human", "Contacting support"),
    ("support phone number and opening hours", "Contacting support"),
    ("do gift cards expire", "Gift cards"),
    ("check gift card balance", "Gift cards"),
    ("single sign-on with Okta", "Business accounts"),
    ("add a colleague to our team", "Business accounts"),
    ("who took over Norvik", "Norvik joins Umbrella"),
    ("who acquired Tessel", "Tessel belongs to Initech"),
    ("which company bought Halden", "Halden is a Globex brand"),
    ("how long does the Tempo watch run on GPS", "Tempo running watch"),
    ("batteries of the Drift scale", "Drift smart scale"),
    ("Lumen thermostat display is dark", "Lumen thermostat"),
]


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("RUNGS_DOCS", raising=False)
    monkeypatch.setattr(docs_shared, "_shared", {})
    yield
    for index in docs_shared._shared.values():
        index.close()


@pytest.fixture(scope="module")
def help_center(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocsIndex]:
    with DocsIndex(HELP_CENTER, tmp_path_factory.mktemp("index") / "help.sqlite") as index:
        yield index


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "tea.md").write_text("# Tea\n\nGreen tea is steeped at 80 degrees.\n")
    return folder


def titles(index: DocsIndex, query: str) -> list[str]:
    return list(dict.fromkeys(hit.title for hit in index.search(query, 8).hits))


def test_nine_in_ten_questions_find_their_document_first_and_all_among_three(
    help_center: DocsIndex,
) -> None:
    found = {query: titles(help_center, query) for query, _ in EXPECTED}
    missed = [query for query, title in EXPECTED if found[query][:1] != [title]]
    assert [query for query, title in EXPECTED if title not in found[query][:3]] == []
    assert len(missed) <= len(EXPECTED) // 10, missed


def test_the_help_center_holds_some_thirty_titled_documents(help_center: DocsIndex) -> None:
    found = help_center.search("refund")
    assert 20 <= found.available <= 30
    assert len({title for _, title in EXPECTED}) == found.available
    assert help_center.skipped() == {}


def test_the_earbuds_question_needs_two_documents_that_do_not_know_each_other() -> None:
    acquisition = (HELP_CENTER / "acme-and-globex.md").read_text().lower()
    earbuds = (HELP_CENTER / "globex-earbuds.md").read_text().lower()
    others = (p.read_text() for p in HELP_CENTER.glob("*.md") if p.name != "acme-and-globex.md")
    assert "acme corp was acquired by globex in 2024" in acquisition
    assert "warranty" not in acquisition
    assert "earbud" not in acquisition
    assert "globex-branded wireless earbuds carry a 2-year limited warranty" in earbuds
    assert not any("acme" in text.lower() for text in others)


def test_the_first_hop_does_not_give_the_warranty_away() -> None:
    assert "2-year" not in search_docs("who acquired Acme")
    assert "2-year limited warranty" in search_docs("Globex earbuds warranty")


def test_the_tool_is_one_required_string_and_one_line_that_says_when_to_use_it() -> None:
    for tool in (search_docs, search_docs_in(HELP_CENTER)):
        (parameter,) = inspect.signature(tool).parameters.values()
        assert tool.__name__ == "search_docs"
        assert (parameter.name, parameter.annotation) == ("query", str)
        assert parameter.default is inspect.Parameter.empty
        assert (inspect.getdoc(tool) or "").splitlines()[0] == (
            "Search the help center; call it before stating any policy, price, product fact "
            "or error code."
        )


def test_each_result_leads_with_its_title_and_file() -> None:
    text = search_docs("E-4042")
    assert "Title: Error E-4042: payment not authorized\nFile: error-e-4042.md\n\n" in text
    assert "the bank did not approve the charge" in text


def test_the_text_of_a_search_is_bounded(docs: Path) -> None:
    for i in range(30):
        (docs / f"long{i}.md").write_text(f"# Long {i}\n\n" + "oolong tea " * 5_000)
    assert len(search_docs_in(docs)("oolong tea")) < 7_000


def test_no_match_says_so_and_that_other_words_may_help() -> None:
    text = search_docs("xylophone")
    assert text.startswith('No match for "xylophone" in 29 documents.')
    assert "Other words may help" in text
    assert len(search_docs("xylophone" * 1_000)) < 300


@pytest.mark.parametrize(
    "query", ["", "   ", "?!", "\0", '- " * ( )', "\N{GRINNING FACE}", "\ud800"]
)
def test_a_query_without_words_is_an_error(query: str) -> None:
    with pytest.raises(ValueError, match="no words"):
        search_docs(query)


@pytest.mark.parametrize(
    "query",
    [
        'refund" OR title:x',
        "refund AND",
        "NEAR(refund policy, 2)",
        "title : refund",
        "{title text} : refund",
        "-refund",
        "^refund*",
        "NOT refund",
        "refund + policy",
        "((refund",
        "'refund'; DROP TABLE passage; --",
        "refund\0policy",
        "refund \N{GRINNING FACE} \ud800",
        "\u201crefund\u201d",
        "\uff32efund refund",
        "refund " * 50_000,
        " ".join(f"word{i}" for i in range(10_000)) + " refund",
        "r" * 100_000 + " refund",
    ],
)
def test_what_looks_like_query_syntax_is_read_as_words(query: str) -> None:
    assert isinstance(search_docs(query), str)
    if len(query) < 1_000:
        assert "Title: Refund policy" in search_docs(query)


@given(query=st.text(max_size=80))
def test_no_query_breaks_the_search(help_center: DocsIndex, query: str) -> None:
    if docs_index.query_terms(query):
        found = help_center.search(query)
        assert len(found.hits) <= found.matched


def test_a_query_of_stop_words_alone_still_searches(docs: Path) -> None:
    (docs / "who.md").write_text("# The Who\n\nThe Who are a band.\n")
    assert "Title: The Who" in search_docs_in(docs)("who are they")


def test_stems_and_accents_do_not_matter(docs: Path) -> None:
    (docs / "cafe.md").write_text("# Cafés\n\nRéservations are taken daily.\n", encoding="utf-8")
    search = search_docs_in(docs)
    assert "Title: Cafés" in search("reservation")
    assert "Title: Cafés" in search("cafe")
    assert "Title: Cafés" in search("CAFE\u0301")


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("E-4042", "e4042"),
        ("E4042", "E-4042"),
        ("E4042", "4042"),
        ("E-4042", "E 4042"),
        ("Wi-Fi", "wifi"),
        ("wifi", "Wi\u2011Fi"),
        ("max_tool_rounds", "max tool rounds"),
        ("O'Brien", "O\u2019Brien"),
        ("日本の法令を検索します", "法令"),
        ("日本の法令を検索します", "法令を調べて"),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u093f\u0928\u094d\u0926\u0940"),
    ],
)
def test_identifiers_and_other_scripts_are_found(docs: Path, written: str, asked: str) -> None:
    (docs / "note.md").write_text(f"# Note\n\nHere is {written} as written.\n", encoding="utf-8")
    assert "Title: Note" in search_docs_in(docs)(asked)


def test_the_folder_of_the_environment_is_read_at_call_time(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Refund policy" in search_docs("refund")
    monkeypatch.setenv("RUNGS_DOCS", str(docs))
    assert "Title: Tea" in search_docs("tea")
    monkeypatch.setenv("RUNGS_DOCS", str(docs / "missing"))
    with pytest.raises(DocsFolderError, match="does not exist"):
        search_docs("tea")


def test_a_bad_folder_is_refused_when_the_tool_is_made(tmp_path: Path) -> None:
    with pytest.raises(DocsFolderError, match="does not exist"):
        search_docs_in(tmp_path / "missing")


def test_several_threads_search_at_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(search_docs, [query for query, _ in EXPECTED]))
    assert all("Title: " in text for text in texts)
