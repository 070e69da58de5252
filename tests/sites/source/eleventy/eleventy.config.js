import { EleventyHtmlBasePlugin, InputPathToUrlTransformPlugin } from "@11ty/eleventy";
import navigation from "@11ty/eleventy-navigation";
import highlight from "@11ty/eleventy-plugin-syntaxhighlight";
import anchor from "markdown-it-anchor";

export default function (eleventy) {
  eleventy.addPlugin(navigation);
  eleventy.addPlugin(highlight, { preAttributes: { tabindex: 0 } });
  eleventy.addPlugin(InputPathToUrlTransformPlugin);
  eleventy.addPlugin(EleventyHtmlBasePlugin);
  eleventy.amendLibrary("md", (md) =>
    md.use(anchor, {
      permalink: anchor.permalink.linkAfterHeader({
        style: "visually-hidden",
        assistiveText: (title) => `Permalink to “${title}”`,
        visuallyHiddenClass: "visually-hidden",
        wrapper: ['<div class="heading">', "</div>"],
      }),
    }),
  );
  eleventy.addGlobalData("layout", "page.njk");
  eleventy.addGlobalData("date", "2026-01-01"); // else the time of the file, by which lists are sorted
  eleventy.addGlobalData("eleventyComputed", {
    title: (data) => data.eleventyNavigation?.key ?? data.title,
  });
}
