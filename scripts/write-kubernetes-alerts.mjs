// Writes the alerts as an object of the Prometheus Operator: node scripts/write-kubernetes-alerts.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DEPLOY = join(import.meta.dirname, '../deploy');
const alerts = readFileSync(join(DEPLOY, 'prometheus/alerts.yaml'), 'utf8');
const groups = alerts.slice(alerts.indexOf('groups:'));
writeFileSync(
  join(DEPLOY, 'kubernetes/base/prometheus-rule.yaml'),
  `# Needs the Prometheus Operator; leave it out of kustomization.yaml without one. Written by npm run docs from
# deploy/prometheus/alerts.yaml: change it there.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: ratelimit
spec:
${groups.replace(/^(?=.)/gm, '  ')}`,
);
