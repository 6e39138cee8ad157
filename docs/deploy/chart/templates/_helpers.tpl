{{- define "duograph.labels" -}}
app.kubernetes.io/name: duograph
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "duograph.selector" -}}
app.kubernetes.io/name: duograph
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: gateway
{{- end }}

{{- define "duograph.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* A container with the settings: everything but its name, arguments and probes. */}}
{{- define "duograph.container" -}}
image: "{{ .Values.image.repository }}@{{ required "Set `image.digest`, the sha256: digest of the image." .Values.image.digest }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities:
    drop: [ALL]
  seccompProfile:
    type: RuntimeDefault
env:
  - name: DUOGRAPH_BASE_URL
    value: {{ printf "https://%s/api" (required "Set `host`, the name under which clients reach the gateway." .Values.host) | quote }}
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    {{- $given := required (printf "Set `settings.%s`." $name) $value }}
    {{- /* Helm reads numbers as floats, and writes large ones with an exponent. */}}
    value: {{ kindIs "float64" $given | ternary (toJson $given) (toString $given) | quote }}
  {{- end }}
envFrom:
  - secretRef:
      name: {{ required "Set `secret`, the Secret with DUOGRAPH_SECRET_KEY and DUOGRAPH_DATABASE_URL." .Values.secret }}
volumeMounts:
  - name: data
    mountPath: /data
  - name: temporary
    mountPath: /tmp
{{- end }}

{{- define "duograph.volumes" -}}
- name: data
  emptyDir:
    sizeLimit: 64Mi
- name: temporary
  emptyDir:
    sizeLimit: {{ .Values.temporaryFiles }}
{{- end }}
