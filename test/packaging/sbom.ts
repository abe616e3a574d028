import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library"
import { COMPONENTS, type Component } from "./components.ts"
import type { Package } from "./production-packages.ts"

/** Returns the bill of materials of a release: CycloneDX 1.6 as JSON, the same text for the same packages. */
export function sbomOf(version: string, packages: readonly Package[]): string {
  const appmeter = new Models.Component(Enums.ComponentType.Application, "appmeter", {
    version,
    bomRef: "appmeter",
    licenses: new Models.LicenseRepository([new Models.SpdxLicense("MIT")]),
  })
  const packageParts = packages.map(packagePart)
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: appmeter }) })
  for (const part of [...packageParts, ...COMPONENTS.map(innerPart)]) {
    bom.components.add(part)
    appmeter.dependencies.add(part.bomRef)
  }
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6))
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}

function packagePart({ name, version, licence, author, integrity }: Package): Models.Component {
  const [group, ...rest] = name.split("/")
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`
  return new Models.Component(Enums.ComponentType.Library, rest.at(0) ?? name, {
    version,
    purl,
    bomRef: purl,
    ...(rest.length > 0 && { group: group! }),
    ...(author !== null && { author }),
    licenses: new Models.LicenseRepository([new Models.SpdxLicense(licence)]),
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm["SHA-512"], hexOf(integrity)]]),
  })
}

/** The package does not state which version of the component it contains. */
function innerPart({ within, name, licence, copyright }: Component): Models.Component {
  return new Models.Component(Enums.ComponentType.Library, name, {
    bomRef: `${within}#${name}`,
    group: within,
    copyright: `Copyright (c) ${copyright}`,
    licenses: new Models.LicenseRepository([new Models.SpdxLicense(licence)]),
  })
}

/** The lock file has hashes as "sha512-" and base64. */
function hexOf(integrity: string): string {
  return Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex")
}
