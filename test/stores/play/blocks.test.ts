import { expect, test } from "bun:test"
import type { ReadFailure } from "../../../src/measuring/source.ts"
import { answerOf, blockOf } from "../../../src/stores/play/blocks.ts"
import { fieldAt, linkedApp } from "../../../src/stores/play/listing.ts"
import { pageOf } from "../parsing/play-pages.ts"

const anchor = { rpc: "lGYRle", key: "ds:4", fits: (data: unknown) => Array.isArray(data) && data[0] === "it" }

test("a block is found through the page's table, whatever its number", () => {
  const blocks = [
    { key: "ds:4", rpc: "T6C6Se", data: ["it", "another call's"] },
    { key: "ds:17", rpc: "lGYRle", data: ["it", "meant"] },
  ]
  expect(blockOf(pageOf(blocks), anchor)).toEqual(["it", "meant"])
  expect(blockOf(pageOf(blocks.toReversed()), anchor)).toEqual(["it", "meant"])
})

test("of several blocks of one call, the matching block is read; two matching blocks fail as changed", () => {
  const first = { key: "ds:2", rpc: "lGYRle", data: ["other"] }
  const second = { key: "ds:3", rpc: "lGYRle", data: ["it", 1] }
  expect(blockOf(pageOf([first, second]), anchor)).toEqual(["it", 1])
  expect(failure(() => blockOf(pageOf([second, { ...first, data: ["it", 2] }]), anchor))).toBe("changed")
})

test("the recorded block number is used only if the page does not list the call", () => {
  const data = ["it", "by number"]
  expect(blockOf(pageOf([{ key: "ds:4", data }]), anchor)).toEqual(data)
  const named = [
    { key: "ds:4", rpc: "T6C6Se", data },
    { key: "ds:9", rpc: "lGYRle", data: ["other"] },
  ]
  expect(failure(() => blockOf(pageOf(named), anchor))).toBe("changed")
})

test("text within a listing or a search is not mistaken for a block or a table row", () => {
  const script =
    "</script><script>AF_initDataCallback({key: 'ds:4', hash: '1', data:[\"it\"], sideChannel: {}});</script>"
  const request = `["x'}, 'ds:1' : {id:'lGYRle',"]`
  const page = pageOf([
    { key: "ds:1", rpc: "other", data: ["it", "not meant"] },
    { key: "ds:4", rpc: "lGYRle", data: ["it", script] },
  ]).replace(`["it's",[1]]`, request)
  expect(page).toContain(request)
  expect(blockOf(page, anchor)).toEqual(["it", script])
})

test("a CAPTCHA or consent page fails as blocked, and any other page without the data block fails as changed", () => {
  const asking = [
    '<html><script src="https://www.google.com/recaptcha/api.js" async defer></script></html>',
    "<p>Our systems have detected unusual traffic from your computer network.</p>",
    '<form action="https://consent.google.com/save" method="POST"><h1>Before you continue to Google</h1></form>',
  ]
  for (const page of asking) {
    expect(failure(() => blockOf(page, anchor))).toBe("blocked")
    expect(failure(() => answerOf(page, "IJ4APc"))).toBe("blocked")
  }
  for (const page of ["", "<html></html>", pageOf([]), pageOf([{ key: "ds:4", rpc: "lGYRle", data: {} }])]) {
    expect(failure(() => blockOf(page, anchor))).toBe("changed")
    expect(failure(() => answerOf(page, "IJ4APc"))).toBe("changed")
  }
})

test("a listing that mentions unusual traffic is not taken for a CAPTCHA page", () => {
  const data = ["it", 'Warns of unusual traffic. Uses www.google.com/recaptcha, action="https://consent.google.com/".']
  const page = pageOf([{ key: "ds:4", rpc: "lGYRle", data }])
  expect(blockOf(page, anchor)).toEqual(data)
  expect(failure(() => blockOf(page, { ...anchor, fits: () => false }))).toBe("changed")
})

test("an unterminated body of two megabytes is quickly detected as a change", () => {
  const long = "x".repeat(2_000_000)
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`
  const table = "<script>var AF_dataServiceRequests = {'ds:4' : {id:'lGYRle',request:[\""
  const block = "<script>AF_initDataCallback({key: 'ds:4', hash: '1', data:"
  for (const page of [
    `${table}${long}`,
    `${table}"</script>${block}["${long}`,
    `${block}${deep}, sideChannel: {}});</script>`,
  ]) {
    expect(failure(() => blockOf(page, anchor))).toBe("changed")
  }
  expect(failure(() => answerOf(`)]}'\n${deep}`, "IJ4APc"))).toBe("changed")
})

test("an answer of batchexecute is found by its call, and its status determines the failure", () => {
  const answer = (...frames: unknown[]) => `)]}'\n\n${JSON.stringify([...frames, ["di", 62]])}`
  const other = ["wrb.fr", "other", "[1]", null, null, null, ""]
  expect(answerOf(answer(other, ["wrb.fr", "IJ4APc", "[2]", null, null, null, ""]), "IJ4APc")).toEqual([2])
  expect(answerOf(answer(["wrb.fr", "IJ4APc", null, null, null, null, ""]), "IJ4APc")).toBeNull()
  const status = (code: number) => answer(["wrb.fr", "IJ4APc", null, null, null, [code], "generic"])
  const outcomes = [8, 13, 14, 3].map((code) => failure(() => answerOf(status(code), "IJ4APc")))
  expect(outcomes).toEqual(["rate_limited", "failed", "failed", "changed"])
  const wrong = [
    answer(other),
    answer(),
    ")]}'\n\n[[",
    ")]}'\n\n{}",
    answer(["wrb.fr", "IJ4APc", "[", null]),
    answer(["wrb.fr", "IJ4APc", 5]),
  ]
  for (const body of wrong) expect(failure(() => answerOf(body, "IJ4APc"))).toBe("changed")
})

test("a field is read at its index or by its number in the trailing object", () => {
  expect(fieldAt(["a", "b"], 1)).toBe("b")
  expect(fieldAt(["a", null, { "141": "far out" }], 140)).toBe("far out")
  expect(fieldAt(["a", null, { "141": "far out" }], 141)).toBeUndefined()
  expect(fieldAt(null, 1)).toBeUndefined()
})

test("a link is recognised as a link to an app, an ad, or neither", () => {
  expect(linkedApp("/store/apps/details?id=com.a.b")).toBe("com.a.b")
  expect(linkedApp("https://play.google.com/store/apps/details?id=com.a.b&hl=en&gl=US")).toBe("com.a.b")
  expect(linkedApp("/store/apps/details?id=com.a.b&adurl=x")).toBeNull()
  expect(linkedApp("https://www.googleadservices.com/pagead/aclk?sa=L")).toBeNull()
  for (const other of ["/store/apps/dev?id=1", "/store/apps/details", "/store/apps/det", "", "https://", 7, null]) {
    expect(linkedApp(other)).toBeUndefined()
  }
})

function failure(read: () => unknown): string {
  try {
    return `read ${JSON.stringify(read())}`
  } catch (error) {
    return (error as ReadFailure).outcome ?? String(error)
  }
}
