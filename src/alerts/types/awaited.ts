import { awaitedType } from "../alert-type.ts"

export const asaRule = awaitedType({
  name: "asa_rule",
  options: [],
  awaits: "What a connected ads account says is not looked at for alerts yet: until then there is nothing to tell.",
})
