import { versionOf } from "../../database/assets.ts"
import type { Deployment } from "./deployment.ts"

/** The user of the image, who owns the volume. */
const USER = "65532:65532"

/**
 * Returns the Containerfile. The first stage unpacks the archive of a release; the second has the program and its
 * licences.
 */
export function containerFile({ secrets }: Deployment): string {
  const version = versionOf()
  const archive = `appmeter-${version}-linux`
  return `# Next to a release's archives: podman build -t appmeter:${version} -f Containerfile .   (or docker build)
# podman run -d --name appmeter -p 127.0.0.1:8787:8787 -v appmeter:/var/lib/appmeter --stop-timeout 30 \\
#   --read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges${secretOptions(secrets)} \\
#   appmeter:${version}
# podman logs appmeter shows the keys of the first start; podman exec appmeter appmeter key create makes another key.
FROM debian:bookworm-slim AS unpack
ARG TARGETARCH=amd64
ADD ${archive}-*.tar.xz /unpacked/
RUN if [ "$TARGETARCH" = amd64 ]; then target=x64; else target="$TARGETARCH"; fi \\
  && mv "/unpacked/${archive}-$target" /release && install -d -m 0700 /data

FROM debian:bookworm-slim
COPY --from=unpack /release/appmeter /usr/local/bin/appmeter
COPY --from=unpack /release/LICENSE /release/NOTICES /usr/share/doc/appmeter/
COPY --from=unpack --chown=${USER} /data /var/lib/appmeter
ENV HOST=0.0.0.0 PORT=8787 DATA_DIR=/var/lib/appmeter${secretVariables(secrets)}
USER ${USER}
VOLUME /var/lib/appmeter
EXPOSE 8787
STOPSIGNAL SIGTERM
# the first start creates a database; the binary itself sends the request, so neither shell nor curl is needed
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["/usr/local/bin/appmeter", "ready"]
ENTRYPOINT ["/usr/local/bin/appmeter"]
CMD ["serve"]
`
}

function secretOptions(secrets: readonly string[]): string {
  return secrets.map((name) => ` \\\n#   --secret ${name},uid=${USER.split(":")[0]}`).join("")
}

function secretVariables(secrets: readonly string[]): string {
  return secrets.map((name) => ` ${name}_FILE=/run/secrets/${name}`).join("")
}
