import { describe, expect, test } from "bun:test"
import { appAdsHosts, rootDomain, siteHost } from "../../../src/listings/sources/app-ads-hosts.ts"

const hosts = (site: string) => appAdsHosts(siteHost(site) ?? "")

describe("a developer's site", () => {
  test.each([
    // The test cases of app-ads.txt 1.0, appendices A and B.
    ["https://example.com/test", ["example.com"]],
    ["https://www.example.com/test", ["example.com"]],
    ["https://m.example.com/test", ["example.com"]],
    ["https://subdomain.example.com/test", ["subdomain.example.com", "example.com"]],
    ["https://another.subdomain.example.com/test", ["subdomain.example.com", "example.com"]],
    ["https://subdomain.www.example.com/test", ["example.com"]],
    ["https://example.co.uk/test", ["example.co.uk"]],
    ["https://www.example.co.uk/test", ["example.co.uk"]],
    ["https://another.subdomain.example.co.uk/test", ["subdomain.example.co.uk", "example.co.uk"]],
    ["https://subdomain.www.example.co.uk/test", ["example.co.uk"]],
    ["https://example.uk/test", ["example.uk"]],
    ["https://another.subdomain.example.uk/test", ["subdomain.example.uk", "example.uk"]],
    // Further cases.
    ["http://SubDomain.Example.Com:8080/x?a=b#c", ["subdomain.example.com", "example.com"]],
    ["  https://user:pass@example.com  ", ["example.com"]],
    ["www.example.com", ["example.com"]],
    ["example.com/about", ["example.com"]],
    ["https://example.com./", ["example.com"]],
    ["https://北京.點看.cn/test", ["xn--1lq90i.xn--c1yn36f.cn", "xn--c1yn36f.cn"]],
    ["https://www.example.com.br/", ["example.com.br"]],
    ["https://example.co.jp/", ["example.co.jp"]],
    ["https://studio.github.io/game", ["studio.github.io"]],
    ["https://a.studio.web.app/", ["a.studio.web.app", "studio.web.app"]],
    ["https://studio.web.id/", ["studio.web.id"]],
    ["https://myapp.uc.r.appspot.com", ["myapp.uc.r.appspot.com"]],
    ["https://abc.framer.app", ["abc.framer.app"]],
    ["https://abc.lovable.app", ["abc.lovable.app"]],
    ["https://abc.r2.dev", ["abc.r2.dev"]],
    ["https://abc.myshopify.com", ["abc.myshopify.com"]],
    ["https://blog.studio.my.id", ["blog.studio.my.id", "studio.my.id"]],
  ])("app-ads.txt of %s is requested at %p", (site, expected) => {
    expect(hosts(site)).toEqual(expected)
  })

  test.each([
    "http://127.0.0.1/",
    "http://2130706433/",
    "https://[::1]/",
    "http://localhost/",
    "https://co.uk/",
    "https://github.io/",
    "https://a..com/",
    "https://intranet/",
  ])("%s has no registered domain", (site) => expect(hosts(site)).toEqual([]))

  test.each([
    "",
    " ",
    "none",
    "mailto:a@example.com",
    "ftp://example.com/",
    "javascript:alert(1)",
    "http://",
    "https://a b/",
    "tel:1",
  ])("%p names no site", (site) => expect(siteHost(site) === null || siteHost(site) === "none").toBe(true))
})

test("the root domain is the registered part of a host name", () => {
  const roots = [
    "cdn.ads.example.com",
    "example.com",
    "a.example.co.uk",
    "co.uk",
    "com",
    "",
    "10.0.0.1",
    "[::1]",
    "x.io.",
  ]
  expect(roots.map(rootDomain)).toEqual([
    "example.com",
    "example.com",
    "example.co.uk",
    null,
    null,
    null,
    null,
    null,
    "x.io",
  ])
})

test("below a public suffix of several labels, app-ads.txt is requested at the developer's own host", async () => {
  const cases = await Bun.file(new URL("../../cases/stores/app-ads-hosts.json", import.meta.url)).json()
  for (const { site, right_first: right } of cases) if (site !== undefined) expect(hosts(site)).toEqual([right])
})
