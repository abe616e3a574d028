import { AccessProblem } from "../../access/problem.ts"
import type { AccountKind } from "../account-kind.ts"
import { type Ads, openAds } from "../ads/client.ts"
import { createKeyPair } from "../ads/key-pair.ts"
import { listAdAccounts, lookAtAds } from "../ads/look.ts"
import { readAds } from "../ads/read.ts"
import type { AdsKey } from "../credentials.ts"

export const appleAds: AccountKind<AdsKey, Ads> = {
  name: "apple-ads",
  title: "Apple Ads",
  summary: "Connect an ad account of Apple Ads with the key of an API user. Shows the rights of the key.",
  examples: [
    [
      "account add apple-ads --client-id SEARCHADS.… --team-id SEARCHADS.… --key-id … --key-file AdsKey.pem",
      "lists the ad accounts if there are several, and exits with 2",
    ],
    ["account add apple-ads … --ad-account 123456789", "that one"],
  ],
  ids: {
    clientId: { option: "client-id", value: "ID", meaning: "The API user's client id, under Account Settings, API." },
    teamId: { option: "team-id", value: "ID", meaning: "The team id, shown next to the client id." },
    keyId: {
      option: "key-id",
      value: "ID",
      meaning: "The key id that Apple Ads shows once the public key is uploaded.",
      fresh: true,
    },
  },
  secret: {
    name: "privateKey",
    option: "key-file",
    value: "FILE",
    meaning: "The private key that belongs to the uploaded public key.",
  },
  part: {
    name: "ad account",
    option: "ad-account",
    value: "ID",
    meaning: "The ad account. Not needed if the API user has only one.",
  },
  createKeyPair,
  listParts: listAdAccounts,
  check({ clientId, teamId, keyId }, adAccount) {
    for (const [name, field, id] of [
      ["client", "clientId", clientId],
      ["team", "teamId", teamId],
    ] as const)
      if (!/^SEARCHADS\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id))
        throw new AccessProblem(
          `a ${name} id is SEARCHADS. and a UUID, as Apple Ads shows it under Account Settings`,
          field,
        )
    if (!/^[\w.-]{4,64}$/.test(keyId)) throw new AccessProblem("a key id has letters, digits and hyphens", "keyId")
    if (adAccount !== null && !/^\d{1,20}$/.test(adAccount))
      throw new AccessProblem("an ad account is a number; omit it to see which there are", "part")
  },
  shown: ({ keyId }) => `key …${keyId.slice(-4)}`,
  open: (key, adAccount, reach) => openAds(key, adAccount, reach),
  look: (ads, adAccount, now) => lookAtAds(ads, adAccount, now),
  begins:
    "campaigns, their bids, costs and results by day, back three months; search terms, changes and search " +
    "popularity",
  needs: ["campaigns", "reports"],
  read: readAds,
}
