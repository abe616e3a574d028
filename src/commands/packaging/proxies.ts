import { type Deployment, SAMPLE_NAME } from "./deployment.ts"

const SETTINGS = (name: string) => `# Settings of Appmeter behind it, which then listens on 127.0.0.1:8787 alone:
#   PUBLIC_URL=https://${name}
#   TRUSTED_PROXIES=127.0.0.1      believes the X-Forwarded-For of this proxy, and of nobody else
# Assistants ask for /mcp itself (no slash behind it), for /.well-known/oauth-protected-resource/mcp and
# /.well-known/oauth-authorization-server, and sign in below /oauth/ and at /sign-in. All of it is passed on below; a check for
# bots in front of it keeps them out, and appmeter doctor says so.
# Of several processes each takes DRAIN_MS=5000 as well, and /readyz turns 503 so much earlier than the port closes.`

/** Caddy passes the Host on and writes X-Forwarded-For by itself. */
export function caddyFile({ name = SAMPLE_NAME }: Deployment): string {
  return `${SETTINGS(name)}
${name} {
	# a call takes 64 KB at most
	request_body {
		max_size 1MB
	}
	# scrape the metrics at METRICS_PORT, not from outside
	respond /metrics 404
	# no "encode": Appmeter compresses by itself as callers ask (zstd, br, gzip), and its ETags go with that
	reverse_proxy 127.0.0.1:8787 {
		# /mcp refuses a Host that is not that of PUBLIC_URL; a client's own X-Forwarded-For is dropped unless
		# trusted_proxies says otherwise
		header_up Host {host}
		transport http {
			dial_timeout 5s
			# a call is answered within 25 s; it is not sent again, for it may have been charged
			response_header_timeout 35s
		}
	}
}
`
}

/** A server block; certificates are the operator's. */
export function nginxFile({ name = SAMPLE_NAME }: Deployment): string {
  return `${SETTINGS(name)}
upstream appmeter {
	server 127.0.0.1:8787;
	keepalive 32;
}

server {
	listen 443 ssl;
	server_name ${name};
	ssl_certificate /etc/ssl/${name}/fullchain.pem;
	ssl_certificate_key /etc/ssl/${name}/privkey.pem;

	# a call takes 64 KB at most; bodies are read whole before they are passed on, so slow ones wait here
	client_max_body_size 1m;
	client_body_timeout 30s;

	# scrape the metrics at METRICS_PORT, not from outside
	location = /metrics {
		return 404;
	}

	# Appmeter compresses by itself as callers ask (zstd, br, gzip); what it has compressed is passed on as it is
	gzip off;

	location / {
		proxy_pass http://appmeter;
		proxy_http_version 1.1;
		proxy_set_header Connection "";
		# /mcp refuses a Host that is not that of PUBLIC_URL
		proxy_set_header Host $http_host;
		# in place of what the client claims; behind a further proxy of yours: $proxy_add_x_forwarded_for, and that
		# proxy in TRUSTED_PROXIES as well
		proxy_set_header X-Forwarded-For $remote_addr;
		proxy_connect_timeout 5s;
		# a call is answered within 25 s; it is not sent again, for it may have been charged
		proxy_read_timeout 35s;
		proxy_next_upstream off;
		# answers are whole documents, not streams: kept in memory, and never in a file
		proxy_buffers 16 64k;
		proxy_max_temp_file_size 0;
	}
}
`
}
