use super::*;

fn read(html: &str) -> Page {
    page(html.as_bytes(), "/x.html")
        .expect("it can be read")
        .expect("it has text")
}

fn texts(html: &str) -> Vec<String> {
    read(html)
        .passages
        .into_iter()
        .map(|passage| passage.text)
        .collect()
}

#[test]
fn content_is_found_where_the_surest_selector_says() {
    let around = |inner: &str| format!("<body>menu {inner} footer</body>");
    for inner in [
        "<main>no<div data-siskin-body>yes</div></main>",
        "<main>no<div data-pagefind-body>yes</div></main>",
        "<article id=furo-main-content>yes</article><main>no</main>",
        "<main>no<article class='x bd-article'>yes</article></main>",
        "<main>no<article>yes</article></main>",
        "<div id=mdbook-content><main>yes</main></div><main>no</main>",
        "<div role=main>yes</div><main>no</main>",
        "<main>yes</main><article>no</article>",
        "<article>yes</article>",
    ] {
        assert_eq!(texts(&around(inner)), ["yes"], "{inner}");
    }
    assert_eq!(texts(&around("yes")), ["menu yes footer"]);
}

#[test]
fn an_article_that_leaves_headings_of_the_page_out_is_a_part_of_it() {
    let card = "<article><h3>Related</h3>See backoff.</article>";
    let page = format!("<main><h1>Scheduling</h1>Jobs.<h2>Zones</h2>Time.{card}</main>");
    assert_eq!(texts(&page), ["Jobs.", "Time.", "See backoff."]);
    // Nor do headings that are not read anyway count, or what follows the page.
    let before = "<aside><h2>On this page</h2></aside><h2 class=sr-only>Page</h2>\
        <div class=toc><h2>Contents</h2><a href=#a>Scheduling</a></div>";
    let after = "<section><h2>Related posts</h2>See backoff.</section>";
    let page = format!("<main>{before}<article><h1>Scheduling</h1>Jobs.</article>{after}</main>");
    assert_eq!(texts(&page), ["Jobs."]);
}

#[test]
fn a_heading_that_is_a_button_is_a_heading() {
    let question = "<h2 id=a><button type=button>How do I purge?</button></h2><p>With --all.";
    let page = read(&format!(
        "<main><h1>FAQ</h1>{question}<h2>Copy <button>Copy link</button></h2>x"
    ));
    let marked = "<h2>Copy <button data-siskin-ignore>x</button></h2><h2><button aria-hidden=true>y</button></h2>z";
    assert!(
        !texts(&format!("<main><h1>A</h1>{marked}"))
            .join(" ")
            .contains('y')
    );
    let headings: Vec<&str> = (page.passages.iter())
        .filter_map(|passage| passage.headings.last().map(String::as_str))
        .collect();
    assert_eq!(headings, ["How do I purge?", "Copy"]);
}

#[test]
fn all_outermost_content_elements_are_read() {
    assert_eq!(
        texts("<main><article>a<article>b</article></article>no<article>c</article></main>"),
        ["a\nb\nc"]
    );
}

/// Trail, anchor and text of every passage.
fn outline(html: &str) -> Vec<(String, Option<String>, String)> {
    let passages = read(html).passages.into_iter();
    passages
        .map(|passage| (passage.headings.join(" > "), passage.anchor, passage.text))
        .collect()
}

fn row(trail: &str, anchor: &str, text: &str) -> (String, Option<String>, String) {
    (
        trail.to_owned(),
        (!anchor.is_empty()).then(|| anchor.to_owned()),
        text.to_owned(),
    )
}

#[test]
fn a_heading_begins_a_section_with_trail_and_anchor() {
    let html = "<main><p>intro<h1 id=t>Title</h1><p>a<h2 id=b>B</h2>b<h3>C</h3>c<h2 id=d>D</h2>d";
    assert_eq!(read(html).title, "Title");
    assert_eq!(
        outline(html),
        [
            row("", "", "intro"),
            row("", "t", "a"),
            row("B", "b", "b"),
            row("B > C", "b", "c"),
            row("D", "d", "d")
        ]
    );
}

#[test]
fn the_title_is_the_first_h1_else_the_title_element_else_the_first_heading_else_the_file() {
    assert_eq!(
        read("<title>no</title><h1>no</h1><main><h2>no</h2><h1>yes</h1><h1>no</h1>x").title,
        "yes"
    );
    assert_eq!(
        read("<title>yes | Site</title><svg><title>no</title></svg><main><h2>no</h2>x").title,
        "yes"
    );
    assert_eq!(read("<main>x<h3>yes</h3>x").title, "yes");
    assert_eq!(read("<main>text").title, "x", "of x.html");
}

#[test]
fn the_language_is_that_of_the_document() {
    assert_eq!(
        read("<html lang=' de-AT '><main lang=en>x")
            .language
            .as_deref(),
        Some("de-AT")
    );
    assert_eq!(read("<html lang=''><main>x").language, None);
}

#[test]
fn an_id_may_stand_on_what_is_around_the_heading() {
    let html = "<div role=main><section id=top><h1>Top<a class=headerlink href='#top'>¶</a></h1><p>a</p>\
        <section id=sub><h2>Sub<a class=headerlink href='#sub'>¶</a></h2><p>b</p></section></section>\
        <div class=section id=old><h2>Old</h2><p>c</p></div><div id=box><h2>Box</h2><p>d</p></div></div>";
    assert_eq!(
        outline(html),
        [
            row("", "top", "a"),
            row("Sub", "sub", "b"),
            row("Old", "old", "c"),
            row("Box", "box", "d")
        ]
    );
}

#[test]
fn a_term_with_an_id_is_a_heading_until_its_list_ends() {
    let html = "<main><h1>T</h1><h2 id=api>API</h2><dl><dt id=c>class C<a class=headerlink href='#c'>¶</a><dd>\
        <p>what C is</p><dl><dt id=c.f>f()<a><span class=viewcode-link>[source]</span></a><dd>does f\
        <dl><dt>Returns<dd>x</dl></dl><p>more of C</dl><p>end<dl><dt id=a>a<dt id=b>b<dd>both</dl>\
        <dl><dt>plain<dd>text</dl><h2 id=z>Z</h2>z";
    assert_eq!(
        outline(html),
        [
            row("API > class C", "c", "what C is"),
            row("API > class C > f()", "c.f", "does f\nReturns\nx"),
            row("API > class C", "c", "more of C"),
            row("API", "api", "end"),
            row("API > a", "a", "a"),
            row("API > b", "b", "both"),
            row("API", "api", "plain\ntext"),
            row("Z", "z", "z")
        ]
    );
}

#[test]
fn links_beside_headings_are_no_text_but_may_carry_the_id() {
    for (heading, anchor) in [
        ("<h2 id=x><a class=header href='#x'>Sub</a></h2>", "x"),
        (
            "<h2 class=anchor id=x>Sub<a href='#x' class=hash-link>\u{200b}</a></h2>",
            "x",
        ),
        (
            "<h2 id=x tabindex=-1>Sub <a class=header-anchor href='#x'>&#8203;</a></h2>",
            "x",
        ),
        (
            "<div><h2 id=x>Sub</h2><a class=sl-anchor-link href='#x'><span class=sr-only>Section titled</span></a></div>",
            "x",
        ),
        ("<h2>Sub<a class=headerlink id=x href='#x'>¶</a></h2>", "x"),
        ("<h2><a id=x></a>Sub</h2>", "x"),
        ("<h2 id=x><a href='#x'>§</a>Sub</h2>", "x"),
        (
            "<h2 id=x>Sub<a href='#x' aria-hidden=true>link</a></h2>",
            "x",
        ),
        ("<h2>Sub</h2>", ""),
        ("<h2 id=''>Sub</h2>", ""),
    ] {
        assert_eq!(
            outline(&format!("<main>{heading}<p>text")),
            [row("", anchor, "text")],
            "{heading}"
        );
        assert_eq!(
            read(&format!("<main>{heading}<p>text")).title,
            "Sub",
            "{heading}"
        );
    }
}

#[test]
fn furniture_is_left_out_and_notes_are_kept() {
    let html = "<main><nav>no</nav><p>a<button>no</button></p><aside>no</aside>\
        <aside class=starlight-aside>note</aside><div data-pagefind-ignore>no<p>no</div>\
        <div data-siskin-ignore=all>no</div><script>no</script><style>no</style><noscript>no</noscript>\
        <template>no</template><svg><text>no</text></svg><select><option>no</select>\
        <span class=visually-hidden>no</span><p>b<sup><a href='#fn1'>1</a></sup> <a href='#back'>↩</a></p>\
        <footer>no</footer></main>";
    assert_eq!(texts(html), ["a\nnote\nb1"]);
}

#[test]
fn blocks_are_separated_and_inline_elements_are_not() {
    let html = "<main><p>Hel<b>lo </b> <i>world</i><br>again</p><ul><li>a<ul><li>b</ul><li><p>c</ul>\
        <dl><dt>d<dd>e</dl><table><tr><th>f<th>g<tr><td>h</td><td>i</td></table><div>j<div>k</div>l</div>";
    assert_eq!(
        texts(html),
        ["Hello world again\na\nb\nc\nd\ne\nf g\nh i\nj\nk\nl"]
    );
}

#[test]
fn code_is_kept_with_single_spaces_and_without_hidden_lines_and_line_numbers() {
    let html = "<main><p>See <code>a  b</code>:<pre><code><span class=boring>fn main() {\n</span>let  x\n    = 1;\n\n\
        <span class=linenos>3</span><span class=l>x</span>\n<span class=boring>}</span></code></pre>\
        <pre><div class=line>one</div><div class=line>two<br>three</div></pre>";
    assert_eq!(texts(html), ["See a b:\nlet x = 1; x\none two three"]);
}

#[test]
fn line_numbers_in_a_column_or_before_each_line_are_left_out() {
    for html in [
        "<div class=chroma><table class=lntable><tr><td class=lntd><pre><code><span class=lnt>1\n</span>\
        <span class=lnt>2\n</span></code></pre></td><td class=lntd><pre><code>a\nb\n</code></pre></table></div>",
        "<pre><code><span class=line><span class=ln>1</span><span class=cl>a\n</span></span><span class=line>\
        <span class=ln>2</span><span class=cl>b\n</span></span></code></pre>",
        "<pre><code><span style='white-space:pre; -webkit-user-select:none;user-select: none;color:#7f7f7f'>1</span>\
        <span>a\n</span><span style='user-select:none'>2</span><span style='user-select:all'>b\n</span></code></pre>",
        "<table class=highlighttable><tr><td class=linenos><div class=linenodiv><pre>1\n2</pre></div><td class=code>\
        <pre><code><a id=line-1 href='#line-1'></a>a\n<a id=line-2 href='#line-2'></a>b\n</code></pre></table>",
        "<table class=rouge-table><tr><td class='gutter gl'><pre class=lineno>1\n2</pre></td><td class=code><pre>a\nb</pre></table>",
    ] {
        let html = format!("<main><p>See</p>{html}<p>end");
        assert_eq!(texts(&html), ["See\na b\nend"], "{html}");
    }
}

#[test]
fn lists_of_pages_and_sections_and_facts_about_the_page_are_left_out() {
    let html = "<main><div class=breadcrumbs><a href=/>Home</a> » Guide</div><h1>T</h1>\
        <div class=post-meta>1 May · 2 min read</div><div class=toc><ul><li><a href='#a'>A</a></ul></div><p>a\
        <p data-search-exclude>no<div class='toctree-wrapper compound'><ul><li>b</ul></div>\
        <ul class='pagination pagination-default'><li><a href=/2>1</a></ul><ul class=post-tags><li>tag</ul>\
        <form class=md-feedback>Helpful?</form></main>";
    assert_eq!(texts(html), ["a"]);
}

#[test]
fn names_that_elsewhere_mean_other_things_keep_their_text() {
    for kept in [
        "<div class=tags><p>Parameters: how many <a href=/ducks>ducks</a> there are</div>",
        "<h2 class=toc>How to make one</h2>",
        "<div style='user-select:none'><p>A text that nobody may copy</div>",
        "<p>the <a href='https://x.example/docs/edit/'>edit command</a>",
    ] {
        let whole = texts(&format!("<main><p>See</p>{kept}</main>")).join(" ");
        assert!(whole.len() > "See ".len(), "{kept}: {whole}");
    }
}

#[test]
fn a_term_without_an_address_ends_the_one_before() {
    let html = "<main><h1>T</h1><h2 id=h>H</h2><dl><dt id=x>X<dd>one<dt>Y<dd>two</dl></main>";
    let found = outline(html);
    assert!(
        found.contains(&row("H", "h", "Y\ntwo")) && found.contains(&row("H > X", "x", "one")),
        "{found:?}"
    );
}

#[test]
fn a_heading_without_text_below_is_found_unless_a_deeper_one_follows() {
    let html = "<main><h1>T</h1><h2>A</h2><h3>B</h3><h2 id=c>C</h2><h2></h2>";
    assert_eq!(outline(html), [row("A > B", "", "B"), row("C", "c", "C")]);
    assert_eq!(outline("<main><h1 id=t>T</h1>"), [row("", "t", "T")]);
}

#[test]
fn links_to_the_next_page_and_to_the_source_and_names_of_languages_are_left_out() {
    let html = "<main><p>Some text and <a href='/y' rel=nofollow>a link</a></p><a href='https://code.example/x/edit/main/a.md'>Edit</a>\
        <a href=/guide/edit/>how to edit</a><ul class=pages><li>← Previous<br><a href=/w rel=prev>W</a>\
        <li>Next<br><a href=/z rel='nofollow next'>Z →</a></ul><a rel=next href=/z>Next: Z</a>\
        <div class='language-js line-numbers-mode'><span class=lang>js</span><pre><code>let <span class=lang>x</span>\
        </code></pre></div>";
    assert_eq!(texts(html), ["Some text and a link\nhow to edit\nlet x"]);
}

#[test]
fn a_heading_excluded_from_search_takes_its_section_along() {
    let html =
        "<main><h1>T</h1>a<h2 id=b data-search-exclude>B</h2><p>no<pre>no</pre><h3 id=c>C</h3>c";
    assert_eq!(outline(html), [row("", "", "a"), row("C", "c", "c")]);
}

#[test]
fn the_attribute_that_marks_the_content_is_told() {
    let mark = |html: &str| match read_outcome(html) {
        Reading::Page(draft) => draft.mark,
        _ => None,
    };
    assert_eq!(mark("<main data-pagefind-body>x"), Some(Mark::Pagefind));
    assert_eq!(
        mark("<main data-pagefind-body><p data-siskin-body>x"),
        Some(Mark::Siskin)
    );
    assert_eq!(mark("<main>x"), None);
}

#[test]
fn pages_that_are_not_to_be_indexed_say_why() {
    let outcome = |html: &str| read_outcome(html);
    assert_eq!(
        outcome("<meta name=ROBOTS content='follow,noindex'><main>x"),
        Reading::NoIndex
    );
    assert_eq!(
        outcome("<meta name=siskin content=noindex><main>x"),
        Reading::NoIndex
    );
    assert_eq!(
        outcome("<meta http-equiv=Refresh content='3;url=/x'><main>x"),
        Reading::Redirect
    );
    for empty in ["<main><img alt=x> ¶</main><p>x", "", "<title>T</title>"] {
        assert_eq!(
            page(empty.as_bytes(), "/x.html").ok(),
            Some(None),
            "{empty}"
        );
    }
    for listing in [
        "<body class='rustdoc src'><main>fn x",
        "<meta name=generator content=javadoc/SourceWriter><body class=source-page><main>x",
        "<main><div class=source-container><pre>x",
        "<body><nav>A menu of many words beside it</nav><h1>d.js</h1><article><pre class='prettyprint source linenums'>let duck = pond.find(1);",
        "<main><div class=index><h1>Index</h1><div class=index><div class=indexdiv><dl>x",
    ] {
        assert_eq!(outcome(listing), Reading::SourceListing, "{listing}");
    }
    assert_eq!(
        outcome("<main><h1>Tag</h1><a href=/y>Y</a>"),
        Reading::ListsPages
    );
    for kept in [
        "<meta name=robots content='noarchive'>",
        "<meta http-equiv=refresh content=30>",
        "<meta name=description content=noindex>",
    ] {
        assert!(
            matches!(outcome(&format!("{kept}<main>x")), Reading::Page(_)),
            "{kept}"
        );
    }
}

fn read_outcome(html: &str) -> Reading {
    super::read(html.as_bytes(), "/x.html").expect("it can be read")
}

#[test]
fn broken_html_is_read_as_browsers_read_it() {
    assert_eq!(texts("<main><p>a<p>b</main"), ["a\nb"]);
    assert_eq!(
        texts("a < b && c &lt; d &nbsp;&bogus; &#0; &#x110000;"),
        ["a < b && c < d &bogus; \u{fffd} \u{fffd}"]
    );
    assert_eq!(
        texts("</p></div><b><i>a</b>b</i></main>c<table>d<tr><p>e"),
        ["abcd\ne"]
    );
    assert_eq!(
        texts("<main><!-- <p>no --><p title='>'>yes<p <b>no?"),
        ["yes\nno?"]
    );
    assert_eq!(
        outline("<main><h2 id=a>Open<p>text<h3>Deeper</h2>more"),
        [row("", "a", "text"), row("Deeper", "a", "more")]
    );
    assert_eq!(
        outline("<main><h1>T</h1><h2 id=a>One<h2 id=b>Two</main>"),
        [row("One", "a", "One"), row("Two", "b", "Two")]
    );
}

#[test]
fn no_bytes_make_the_reader_panic() {
    let page = "<!doctype html><html lang=en><title>a - b</title><main><h1 id=x>é<p>b<pre>c<table><tr><td>d</main>".as_bytes();
    for end in 0..page.len() {
        let _ = super::read(&page[..end], "/");
        let _ = super::read(&page[end..], "/");
        let _ = super::read(&[&page[..end], b"\xff\xfe\0<", &page[end..]].concat(), "/");
    }
}

#[test]
fn deep_nesting_is_read_up_to_the_limit_and_refused_beyond() {
    let nested = |depth: usize| {
        format!(
            "<main>{}deep{}",
            "<div>".repeat(depth),
            "</div>".repeat(depth)
        )
    };
    assert_eq!(texts(&nested(4000)), ["deep"]);
    assert!(matches!(
        page(nested(5000).as_bytes(), "/"),
        Err(ExtractError::TooDeep { .. })
    ));
}

#[test]
fn a_page_of_five_megabytes_is_read_whole() {
    let paragraph = "<h2 id=s>Section</h2><p>Words and <b>more</b> words, one after another.</p><ul><li>x<li>y</ul>";
    let html = format!("<main>{}", paragraph.repeat(5_000_000 / paragraph.len()));
    let page = read(&html);
    assert_eq!(page.passages.len(), 5_000_000 / paragraph.len());
    assert!(
        page.passages
            .iter()
            .skip(1)
            .all(|passage| passage.text == "Words and more words, one after another.\nx\ny")
    );
}

#[test]
fn text_counts_as_the_innermost_element_with_a_weight_says() {
    let page = read(
        "<main data-siskin-weight=3><h1>T</h1><p>one<p>two<div data-siskin-weight=2><p>three\
         <h2 id=a>A</h2><p>four<div data-pagefind-weight=0.5>five</div>six</div><p>seven",
    );
    let rows = page.passages.iter().map(|passage| {
        let heading = passage.headings.last().map_or("", String::as_str);
        format!(
            "{heading}: {} ×{}",
            passage.text.replace('\n', " "),
            passage.weight.value()
        )
    });
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            ": one two ×1",
            ": three ×2",
            "A: four ×2",
            "A: five ×0.5",
            "A: six ×2",
            "A: seven ×1"
        ]
    );
    assert_eq!(page.attributes.weight.value(), 3.0);
}

#[test]
fn an_id_before_a_heading_or_around_it_is_its_anchor() {
    for heading in [
        "<a name=b></a><h2>B</h2>",
        "<a id=b></a> <h2 class=memtitle>B</h2>",
        "<span id=b></span><h2>B</h2>",
        "<div id=b><h2>B</h2></div>",
        "<div class=sect1 id=b><div class=titlepage><div><div><h2>B</h2></div></div></div></div>",
        "<h2><a name=b></a>B</h2>",
        "<h2>B <a class=mark id=b href=#b>#</a></h2>",
        "<h2 id=b>B <button id=copy>Copy</button></h2>",
    ] {
        let html = format!("<main id=m><h1>T</h1><p>a</p>{heading}<p>c");
        assert_eq!(outline(&html)[1], row("B", "b", "c"), "{heading}");
    }
    // Text in between is what the id is of, and a button's is the button's.
    for heading in [
        "<p id=b>x</p><h2>B</h2>",
        "<h2>B <button id=b>Copy</button></h2>",
        "<nav id=b><a href=/>x</a></nav><h2>B</h2>",
    ] {
        let html = format!("<main id=m><h1>T</h1><p>a</p>{heading}<p>c");
        assert_eq!(outline(&html)[1], row("B", "", "c"), "{heading}");
    }
}

#[test]
fn a_section_that_closes_ends_its_heading() {
    let html =
        "<main><h1>T</h1>a<section><h2 id=b>B</h2>b<section><h3 id=c>C</h3>c</section>d</section>e";
    let rows = [
        row("", "", "a"),
        row("B", "b", "b"),
        row("B > C", "c", "c"),
        row("B", "b", "d"),
        row("", "", "e"),
    ];
    assert_eq!(outline(html), rows);
    // One that holds nothing but the heading is its frame.
    let html = "<main><h1>T</h1>a<section><h2 id=b>B</h2></section>b";
    assert_eq!(outline(html), [row("", "", "a"), row("B", "b", "b")]);
}

#[test]
fn a_heading_of_a_whole_paragraph_is_cut_and_is_the_first_text_below_itself() {
    let long = "many words ".repeat(40);
    let page = read(&format!("<main><h1>T</h1>a<h2>{long}</h2>b"));
    let passage = &page.passages[1];
    assert!(passage.headings[0].chars().count() <= 301 && passage.headings[0].ends_with("words…"));
    let texts = page.passages[1..].iter().map(|passage| &*passage.text);
    assert_eq!(
        texts.collect::<Vec<_>>().join(" ").replace('\n', " "),
        format!("{long}b")
    );
}

#[test]
fn what_leads_to_other_pages_is_left_out() {
    let line = "<div class=header><p>Next: <a rel=next href=b>Bags</a>, Up: <a rel=up href=c>Top</a></p></div>";
    assert_eq!(texts(&format!("<body><h1>T</h1>{line}<p>x")), ["x"]);
    let doxygen = "<div id=titlearea>Birds 1.0</div><div class=header><div class=headertitle>\
        <div class=title>Pond Class Reference</div></div></div><div class=contents><p>Swim.</div>";
    let page = read(&format!("<body>{doxygen}"));
    assert_eq!(page.title, "Pond Class Reference");
    assert_eq!(texts(&format!("<body>{doxygen}")), ["Swim."]);
}

#[test]
fn what_is_hidden_for_good_is_left_out_and_what_may_be_shown_is_read() {
    for shown in [
        "<div hidden=until-found>y</div>",
        "<div role=tabpanel hidden>y</div>",
        "<div id=answer hidden>y</div>",
    ] {
        assert_eq!(
            texts(&format!("<main><p>x</p>{shown}")),
            ["x\ny"],
            "{shown}"
        );
    }
    assert_eq!(texts("<main><p>x</p><div hidden>y</div>"), ["x"]);
}

#[test]
fn an_article_without_the_title_of_the_page_is_a_part_of_it() {
    let page = "<body><div id=main><h1>Class: Pond</h1><p>Water.</p><section><article><h2>Members</h2>swim</article></section></div>";
    assert_eq!(read(page).title, "Class: Pond");
    assert_eq!(texts(page), ["Water.", "swim"]);
    // A site's banner is not its title, nor is one beside an article that has its own.
    for banner in [
        "<header><h1>Birds</h1></header>",
        "<div class=site-title><h1>Birds</h1></div>",
        "<h1><a href=/>Birds</a></h1>",
    ] {
        let page = format!("<body>{banner}<article><h2>Ducks</h2>swim</article>");
        assert_eq!(texts(&page), ["swim"], "{banner}");
    }
    let own = "<body><h1>Birds</h1><article><h1>Ducks</h1>swim</article>";
    assert_eq!(read(own).title, "Ducks");
}

#[test]
fn a_function_s_signature_is_its_heading_where_it_has_none() {
    let signature =
        "<span>def</span> <span>feed</span><span class='signature pdoc-code'>(loaves)</span>";
    let html = format!(
        "<main class=pdoc><section class=module-info><h1>ducks</h1><p>all<h2 id=bread>Bread</h2>bad</section>\
        <section id=Pond><div class=attr>class Pond</div><div class=pdoc-code>class Pond</div><p>Water.\
        <div id=Pond.feed class=classattr><div class=attr>{signature}</div><p>Gives bread.\
        <dl><dt>loaves<dd>how many</dl><p>Ducks eat.</div></section>\
        <section id=count><div class=attr>def count()</div><p>Counts.</section>"
    );
    let feed = "Gives bread.\nloaves\nhow many\nDucks eat.";
    let rows = [
        row("", "", "all"),
        row("Bread", "bread", "bad"),
        row("class Pond", "Pond", "Water."),
        row("class Pond > def feed(loaves)", "Pond.feed", feed),
        row("def count()", "count", "Counts."),
    ];
    assert_eq!(outline(&html), rows);
    // One that has a heading has that.
    let html = "<main><h1>T</h1>a<div class=method-detail id=m><h3 id=n>feed</h3><p>b</p></div>";
    assert_eq!(outline(html), [row("", "", "a"), row("feed", "n", "b")]);
}

#[test]
fn sections_of_a_heading_may_stand_beside_its_own() {
    let html =
        "<main><h1>T</h1>a<section><h2 id=b>B</h2>b</section><section><h3 id=c>C</h3>c</section>d";
    let rows = [
        row("", "", "a"),
        row("B", "b", "b"),
        row("B > C", "c", "c"),
        row("B", "b", "d"),
    ];
    assert_eq!(outline(html), rows);
}

#[test]
fn names_of_frames_are_no_frames_elsewhere() {
    for kept in [
        "<section id=side-nav><h2>Side nav</h2>y</section>",
        "<h2 id=main-nav>Side nav</h2>y",
        "<section class=navigation><h2>Side nav</h2>y</section>",
        "<h2>Side nav</h2><p>y <a rel=prev href=/a>part one</a>, and that is why the pond is as deep as it is.</p>",
        "<div><h2>Side nav</h2>y <a rel=next href=/b>Next</a></div>",
    ] {
        let page = read(&format!("<main><h1>T</h1><p>x</p>{kept}"));
        let last = page.passages.last().unwrap();
        assert_eq!(last.headings, ["Side nav"], "{kept}");
        assert!(last.text.starts_with('y'), "{kept}");
    }
    let notes = "<body><h1>T</h1><p>x</p><section id=footnotes><p>y</section>";
    assert_eq!(texts(notes), ["x\ny"]);
    let notes = "<body>menu<div id=content><h1>T</h1><p>x</p></div><div id=footnotes><p>y</div>";
    assert_eq!(texts(notes), ["x\ny"]);
}

#[test]
fn a_page_with_some_code_or_an_index_is_no_listing() {
    let code = "<pre class='prettyprint source linenums'>let x = 1;</pre>";
    let index = "<div class=index><h2>Index</h2><div class=index><div class=indexdiv>a, 1</div></div></div>";
    for page in [
        format!("<main><h1>T</h1><p>This is how variables are declared:</p>{code}"),
        format!(
            "<main><h1>T</h1><div class=chapter>All about ducks and what they eat.</div>{index}"
        ),
        "<body class=index-page><main><h1>Welcome</h1>to the pond".to_owned(),
        format!("<main data-siskin-body>{code}"),
    ] {
        assert!(matches!(read_outcome(&page), Reading::Page(_)), "{page}");
    }
}
