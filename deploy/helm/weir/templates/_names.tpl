{{- define "weir.labels" -}}
app.kubernetes.io/name: {{ .Release.Name }}
{{- end }}

{{- define "weir.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- /* What the chart sets, over which `settings` wins; a map, so that no name is there twice. */ -}}
{{- define "weir.settings" -}}
KVSTORE_URL: {{ .Values.redis.url | quote }}
{{- if ne .Values.redis.type "single" }}
KVSTORE_TYPE: {{ .Values.redis.type | quote }}
{{- end }}
{{- if .Values.redis.auth.secretName }}
KVSTORE_AUTH_FILE: /etc/weir/redis-auth/{{ .Values.redis.auth.key }}
{{- end }}
{{- if .Values.redis.tls.enabled }}
KVSTORE_TLS: 'true'
{{- end }}
{{- if .Values.redis.tls.caSecretName }}
KVSTORE_TLS_CACERT: /etc/weir/redis-ca/ca.crt
{{- end }}
KVSTORE_TIMEOUT: 40ms
NODE_OPTIONS: '--max-semi-space-size=16 --max-old-space-size=256'
RUNTIME_WATCH_ROOT: 'false'
HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED: 'true'
DRAIN_DELAY: 10s
USE_PULLMETRICS: 'true'
LOG_FORMAT: json
{{- if .Values.tls.secretName }}
GRPC_SERVER_USE_TLS: 'true'
GRPC_SERVER_TLS_CERT: /etc/weir/tls/tls.crt
GRPC_SERVER_TLS_KEY: /etc/weir/tls/tls.key
{{- end }}
{{- if .Values.tls.clientCaSecretName }}
GRPC_CLIENT_TLS_CACERT: /etc/weir/client-ca/ca.crt
{{- end }}
{{- end }}

{{- /* Secrets by the folder below /etc/weir that each is mounted at. */ -}}
{{- define "weir.secrets" -}}
{{- with .Values.redis.auth.secretName }}
redis-auth: {{ . }}
{{- end }}
{{- with .Values.redis.tls.caSecretName }}
redis-ca: {{ . }}
{{- end }}
{{- with .Values.tls.secretName }}
tls: {{ . }}
{{- end }}
{{- with .Values.tls.clientCaSecretName }}
client-ca: {{ . }}
{{- end }}
{{- end }}
