import { expect, test } from "bun:test"
import { appPage, readStoreLink, searchPage, storeIdInLink, whyNoApp } from "../../src/lib/store-pages.ts"

test("store page URLs have the form that a person can open in a browser", () => {
  expect(appPage("ios", "1437843273", "de")).toBe("https://apps.apple.com/de/app/id1437843273")
  expect(appPage("android", "com.example.App", "de")).toBe(
    "https://play.google.com/store/apps/details?id=com.example.App",
  )
  expect(searchPage("ios", "50% off & c++", "us")).toBe(
    "https://apps.apple.com/us/iphone/search?term=50%25%20off%20%26%20c%2B%2B",
  )
  expect(searchPage("android", "ça va", "fr")).toBe("https://play.google.com/store/search?q=%C3%A7a%20va&c=apps&gl=FR")
})

test("an app's link gives its store id, whatever else the link contains", () => {
  const named = {
    "https://apps.apple.com/us/app/lumen-journal/id1437843273": "1437843273",
    "https://apps.apple.com/us/app/lumen-journal/id1437843273?mt=8&l=en": "1437843273",
    "http://itunes.apple.com/app/id1437843273#x": "1437843273",
    "apps.apple.com/app/id1437843273": "1437843273",
    id1437843273: "1437843273",
    "https://play.google.com/store/apps/details?id=com.example.App": "com.example.App",
    "https://play.google.com/store/apps/details?hl=de&id=com.example.App&gl=DE": "com.example.App",
  }
  for (const [link, id] of Object.entries(named)) expect([link, storeIdInLink(link)]).toEqual([link, id])
  const unrelated = [
    "1437843273",
    "id12",
    "idea",
    "https://example.com/app/id1437843273",
    "https://apps.apple.com/us/charts/iphone",
    "https://apps.apple.com.example.com/app/id1437843273",
    "https://play.google.com/store/apps/details?id=com",
    "https://play.google.com/store/apps/details?grid=com.example.app",
    "see https://apps.apple.com/app/id1437843273",
  ]
  for (const text of unrelated) expect([text, storeIdInLink(text)]).toEqual([text, null])
})

test("an app's link is parsed in every form that stores, phones and chats produce", async () => {
  const cases = await Bun.file(new URL("../cases/stores/links.json", import.meta.url)).json()
  for (const { text, right } of cases) expect([text, storeIdInLink(text)]).toEqual([text, right])
  const forms = [
    ["https://play.google.com/store/apps/details/?id=com.example.tidy", "com.example.tidy", null],
    ["https://play.google.com/store/apps/details?id=com.example.tidy&gl=de", "com.example.tidy", "de"],
    ["https://play.google.com/work/apps/details?id=com.example.tidy", "com.example.tidy", null],
    ["https://play.google.com/apps/testing/com.example.tidy", "com.example.tidy", null],
    ["https://market.android.com/details?id=com.example.tidy", "com.example.tidy", null],
    ["market://details/?id=com.example.tidy", "com.example.tidy", null],
    ["intent://details?id=com.example.tidy#Intent;scheme=market;end", "com.example.tidy", null],
    ["itms-apps://itunes.apple.com/us/app/apple-store/id389801252?mt=8", "389801252", "us"],
    ["https://apps.apple.com/DE/app/x/id389801252\u200b", "389801252", "de"],
    ["(https://apps.apple.com/us/app/story/id389801252).", "389801252", "us"],
    ["„https://apps.apple.com/us/app/x/id389801252“", "389801252", "us"],
    ["»https://apps.apple.com/us/app/x/id389801252«", "389801252", "us"],
    ["「https://apps.apple.com/jp/app/x/id389801252」。", "389801252", "jp"],
    ["\u200ehttps://apps.apple.com/us/iphone/app/developer/id389801252/", "389801252", "us"],
  ]
  for (const [text, id, storefront] of forms)
    expect([text, readStoreLink(text!)]).toMatchObject([text, { id, storefront }])
})

test("a store link to a page that is not an app's is refused, and the reason names the page", () => {
  const otherLinks = {
    "https://itunes.apple.com/us/artist/example/id310634000": "a developer",
    "https://itunes.apple.com/us/album/example/id310634000": "an album",
    "https://apps.apple.com/us/iphone/story/id1545451513": "an editorial story",
    "https://apps.apple.com/us/curator/example/id310634000": "another page of Apple's stores",
    "https://apps.apple.com/us/charts/iphone": "a chart",
    "https://podcasts.apple.com/us/podcast/example/id310634000": "a podcast",
    "https://play.google.com/store/apps/dev?id=5700313618786177705": "a developer",
    "https://play.google.com/store/apps/collection/cluster?clp=x": "a collection",
    "https://play.google.com/store/books/details?id=abc.def": "a book",
    "market://search?q=tides": "a search",
  }
  for (const [text, leadsTo] of Object.entries(otherLinks)) {
    expect([text, readStoreLink(text)]).toEqual([text, { leadsTo }])
    expect(whyNoApp(text)).toContain(`leads to ${leadsTo}, not to an app`)
  }
  for (const text of ["tide times", "com.example.tidy", "https://example.com/app/id389801252"])
    expect([text, whyNoApp(text)]).toEqual([text, null])
})
