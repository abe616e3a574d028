import { expect, test } from "bun:test"
import { isStoreId, parseRival } from "../../src/lib/store-ids.ts"

test("an App Store id has 5 to 12 digits, a Google Play id is a package name", () => {
  for (const id of ["10001", "123456789012"]) expect([id, isStoreId("ios", id)]).toEqual([id, true])
  for (const id of ["1234", "1234567890123", "01234", "12 345", "id12345", "", "१२३४५", "12345\n"]) {
    expect([id, isStoreId("ios", id)]).toEqual([id, false])
  }
  for (const id of ["com.example", "com.example.App_1"]) expect([id, isStoreId("android", id)]).toEqual([id, true])
  for (const id of ["com", "com.", ".com", "com..a", "com.1a", "com.a b", "com.a/b", `a.${"b".repeat(255)}`]) {
    expect([id, isStoreId("android", id)]).toEqual([id, false])
  }
})

test("a rival consists of its store and its store id", () => {
  expect(parseRival("ios:10001")).toEqual({ platform: "ios", id: "10001" })
  expect(parseRival("android:com.example")).toEqual({ platform: "android", id: "com.example" })
  for (const text of ["10001", "ios:com.example", "android:10001", "ios:10001:1", "web:10001", "ios:", ""]) {
    expect(parseRival(text)).toBeNull()
  }
})
