import { versionOf } from "../../database/assets.ts"

/**
 * Returns the action.yml of a composite action that checks store texts in a pull request. Inputs reach the command
 * through the environment, so that no input is run as a script.
 */
export function githubAction(): string {
  return `name: Check store texts
description: Checks the App Store and Google Play texts of a repository and annotates the findings.
inputs:
  folder:
    description: fastlane's metadata folder, or app/src/main/play.
    default: fastlane/metadata
  name:
    description: The app's name in the store.
    default: ""
  developer:
    description: The developer's name in the store.
    default: ""
  strict:
    description: '"true" also fails on warnings.'
    default: "false"
runs:
  using: composite
  steps:
    - shell: bash
      env:
        FOLDER: \${{ inputs.folder }}
        NAME: \${{ inputs.name }}
        DEVELOPER: \${{ inputs.developer }}
        STRICT: \${{ inputs.strict }}
      run: |
        options=(--github)
        if [ -n "$NAME" ]; then options+=(--name "$NAME"); fi
        if [ -n "$DEVELOPER" ]; then options+=(--developer "$DEVELOPER"); fi
        if [ "$STRICT" = true ]; then options+=(--strict); fi
        npx -y appmeter@${versionOf()} check "$FOLDER" "\${options[@]}"
`
}
