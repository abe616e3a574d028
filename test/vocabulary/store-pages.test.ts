import { expect, test } from "bun:test"
import { appPage, searchPage, storeIdInLink } from "../../src/vocabulary/store-pages.ts"

test("the pages a person can open", () => {
  expect(appPage("ios", "1437843273", "de")).toBe("https://apps.apple.com/de/app/id1437843273")
  expect(appPage("android", "com.example.App", "de")).toBe(
    "https://play.google.com/store/apps/details?id=com.example.App",
  )
  expect(searchPage("ios", "50% off & c++", "us")).toBe(
    "https://apps.apple.com/us/iphone/search?term=50%25%20off%20%26%20c%2B%2B",
  )
  expect(searchPage("android", "ça va", "fr")).toBe("https://play.google.com/store/search?q=%C3%A7a%20va&c=apps&gl=FR")
})

test("an app's page names its store id, whatever else the link holds", () => {
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
  const others = [
    "1437843273", "id12", "idea", "https://example.com/app/id1437843273", "https://apps.apple.com/us/charts/iphone",
    "https://apps.apple.com.example.com/app/id1437843273", "https://play.google.com/store/apps/details?id=com",
    "https://play.google.com/store/apps/details?grid=com.example.app", "see https://apps.apple.com/app/id1437843273",
  ] // biome-ignore format: a list to scan
  for (const text of others) expect([text, storeIdInLink(text)]).toEqual([text, null])
})
