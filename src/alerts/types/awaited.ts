import { awaitedType } from "../alert-type.ts"

export const asaRule = awaitedType({
  name: "asa_rule",
  options: [],
  awaits: "Ads accounts cannot be connected yet: until then there is nothing to tell.",
})
