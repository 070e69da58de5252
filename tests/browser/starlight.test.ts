/** A site as Starlight built it, indexed with `siskin index --pagefind`: its own search box, of which
 * not a byte was changed, searches by meaning. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { indexedSite, launch, Tab } from "./harness.js";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** The site, with the picture that its pages name and the fixture leaves out. */
async function starlight(): Promise<Tab> {
  const tab = await Tab.open(browser, { folder: indexedSite("SISKIN_STARLIGHT_DIR") });
  tab.site.file("/favicon.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>");
  return tab;
}

test("Starlight's own search box finds by meaning, and its results open at their headings", async () => {
  const tab = await starlight();
  await tab.goto("/");
  await tab.page.getByRole("button", { name: "Search" }).click();
  await tab.page.getByPlaceholder("Search").fill("stop a request halfway");
  const results = tab.page.locator(".pagefind-ui__result");
  await results.first().waitFor();
  const links = await results
    .first()
    .locator("a")
    .evaluateAll((found) => found.map((link) => (link as HTMLAnchorElement).href));
  const wanted = `${tab.site.origin}/guide/requests/#cancel-a-request`;
  assert.ok(links.includes(wanted), links.join(" "));
  await results.first().locator(`a[href$="#cancel-a-request"]`).first().click();
  await tab.page.waitForURL(wanted);
  assert.equal(await tab.page.locator("#cancel-a-request").textContent(), "Cancel a request");
  await tab.close();
});

test("a page that asks robots to stay away is not found in it", async () => {
  const tab = await starlight();
  await tab.goto("/guide/install/");
  await tab.page.getByRole("button", { name: "Search" }).click();
  await tab.page.getByPlaceholder("Search").fill("secret handshake request");
  await tab.page.locator(".pagefind-ui__result a").first().waitFor();
  const links = await tab.page
    .locator(".pagefind-ui__result a")
    .evaluateAll((found) => found.map((link) => (link as HTMLAnchorElement).href));
  assert.ok(links.length > 0);
  assert.ok(!links.some((link) => link.includes("private")), links.join(" "));
  await tab.close();
});
