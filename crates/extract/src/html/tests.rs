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
fn all_outermost_content_elements_are_read() {
    assert_eq!(
        texts("<main><article>a<article>b</article></article>no<article>c</article></main>"),
        ["a\nb\nc"]
    );
}
