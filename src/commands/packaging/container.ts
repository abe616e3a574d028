import type { Deployment } from "./deployment.ts"

/** The user of the image; the volume belongs to it. */
const USER = "65532:65532"

/** An image in two stages: the binary is built in the first, and alone in the second. */
export function containerFile({ secrets }: Deployment): string {
  return `# In a checkout, with node_modules, dist and .appmeter in .containerignore: podman build -t appmeter -f Containerfile .   (docker build likewise)
# podman run -d --name appmeter -p 127.0.0.1:8787:8787 -v appmeter:/var/lib/appmeter --stop-timeout 30 \\
#   --read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges${secretOptions(secrets)} appmeter
# podman logs appmeter shows the keys of the first start; podman exec appmeter appmeter key create makes another.
FROM oven/bun:1.4.5 AS build
WORKDIR /build
COPY . .
RUN bun install --frozen-lockfile && bun run build --into /out && install -d -m 0700 /out/data

FROM debian:bookworm-slim
COPY --from=build /out/appmeter /usr/local/bin/appmeter
COPY --from=build --chown=${USER} /out/data /var/lib/appmeter
ENV HOST=0.0.0.0 PORT=8787 DATA_DIR=/var/lib/appmeter${secretVariables(secrets)}
USER ${USER}
VOLUME /var/lib/appmeter
EXPOSE 8787
STOPSIGNAL SIGTERM
# the first start makes a database; the binary asks for itself, so neither shell nor curl is needed
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
