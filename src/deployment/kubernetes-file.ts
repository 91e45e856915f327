import {
  fieldsOf,
  listOf,
  textOf,
  wordsOf,
  type YamlFields,
  wordsAfterProgram,
  isRateLimitService,
  toGiven,
  type Deployment,
  type GivenValue,
  type Mount,
  type Workload,
} from './workload';

const WITH_TEMPLATE = new Set(['Deployment', 'StatefulSet', 'DaemonSet']);

type ConfigMaps = ReadonlyMap<string, YamlFields>;

/** The Pods of manifests, with the ConfigMaps beside them. */
export function readManifests(documents: readonly YamlFields[]): Deployment {
  const objects = documents.flatMap(objectsOf);
  const configMaps = new Map(
    objects
      .filter(({ kind }) => kind === 'ConfigMap')
      .map((object) => [nameOf(object), fieldsOf(object['data'])]),
  );
  const workloads: Workload[] = [];
  const skipped: string[] = [];
  for (const object of objects) {
    const kind = textOf(object['kind']);
    if (kind === 'ConfigMap') continue;
    if (kind === '') {
      skipped.push(
        'an object without kind is skipped: expected a manifest of Kubernetes or a composition',
      );
      continue;
    }
    const name = `${kind} ${JSON.stringify(nameOf(object))}`;
    const pod = podOf(kind, object);
    if (pod === undefined) {
      skipped.push(`${name}: skipped, expected a Deployment, StatefulSet, DaemonSet or Pod`);
      continue;
    }
    readPod(name, pod, { configMaps, workloads, skipped });
  }
  return { workloads, skipped };
}

function objectsOf(document: YamlFields): readonly YamlFields[] {
  return document['kind'] === 'List' ? listOf(document['items']).map(fieldsOf) : [document];
}

function nameOf(object: YamlFields): string {
  return textOf(fieldsOf(object['metadata'])['name']);
}

function podOf(kind: string, object: YamlFields): YamlFields | undefined {
  const spec = fieldsOf(object['spec']);
  if (kind === 'Pod') return spec;
  return WITH_TEMPLATE.has(kind) ? fieldsOf(fieldsOf(spec['template'])['spec']) : undefined;
}

interface Reading {
  readonly configMaps: ConfigMaps;
  readonly workloads: Workload[];
  readonly skipped: string[];
}

function readPod(of: string, pod: YamlFields, { configMaps, workloads, skipped }: Reading): void {
  const first = listOf(pod['initContainers']).map(fieldsOf);
  for (const container of first.filter((each) => !isSidecar(each)))
    skipped.push(`${nameOfContainer(of, container)}: skipped, it ends before the others start`);
  const running = [...first.filter(isSidecar), ...listOf(pod['containers']).map(fieldsOf)];
  for (const container of running) {
    const name = nameOfContainer(of, container);
    const words = [...wordsOf(container['command']), ...wordsOf(container['args'])];
    const { env, unread } = readEnvironment(container, configMaps);
    if (!isRateLimitService(textOf(container['image']), words, env)) {
      skipped.push(`${name}: skipped, nothing says that it is a rate limit service`);
      continue;
    }
    skipped.push(...unread.map((text) => `${name}: ${text}`));
    const mounts = readMounts(container, pod, configMaps);
    const rest = { words: wordsAfterProgram(words), mounts, hasMoreSettings: unread.length > 0 };
    workloads.push({ name, env, ...rest });
  }
}

/** An init container that goes on beside the others. */
function isSidecar(container: YamlFields): boolean {
  return container['restartPolicy'] === 'Always';
}

function nameOfContainer(of: string, container: YamlFields): string {
  return `${of}, container ${JSON.stringify(textOf(container['name']))}`;
}

function readEnvironment(container: YamlFields, configMaps: ConfigMaps) {
  const env = new Map<string, GivenValue>();
  const unread = new Set<string>();
  for (const from of listOf(container['envFrom']).map(fieldsOf)) {
    const source = textOf(fieldsOf(from['configMapRef'])['name']);
    const data = configMaps.get(source);
    if (data === undefined) unread.add(`settings of ${nameOfSource(from)} are not checked`);
    for (const [key, value] of Object.entries(data ?? {}))
      env.set(textOf(from['prefix']) + key, toGiven(value));
  }
  for (const entry of listOf(container['env']).map(fieldsOf)) {
    const from = fieldsOf(fieldsOf(entry['valueFrom'])['configMapKeyRef']);
    const there = configMaps.get(textOf(from['name']))?.[textOf(from['key'])];
    const hasOwn = entry['valueFrom'] === undefined;
    env.set(textOf(entry['name']), toGiven(hasOwn ? (entry['value'] ?? '') : there));
  }
  return { env, unread: [...unread] };
}

function nameOfSource({ configMapRef, secretRef }: YamlFields): string {
  const name = JSON.stringify(textOf(fieldsOf(configMapRef ?? secretRef)['name']));
  return configMapRef === undefined
    ? `envFrom, Secret ${name},`
    : `envFrom, ConfigMap ${name}, which is not in this file,`;
}

function readMounts(
  container: YamlFields,
  pod: YamlFields,
  configMaps: ConfigMaps,
): readonly Mount[] {
  const volumes = new Map(
    listOf(pod['volumes'])
      .map(fieldsOf)
      .map((volume) => [textOf(volume['name']), volume]),
  );
  return listOf(container['volumeMounts'])
    .map(fieldsOf)
    .map((mount): Mount => {
      const configMap = fieldsOf(volumes.get(textOf(mount['name'])) ?? {})['configMap'];
      const { name, items } = fieldsOf(configMap);
      const data = configMaps.get(textOf(name));
      const paths = listOf(items).map((item) => textOf(fieldsOf(item)['path']));
      const keys = paths.length > 0 ? paths : data && Object.keys(data);
      return {
        path: textOf(mount['mountPath']),
        keys,
        isConfigMap: configMap !== undefined,
        isSubPath: textOf(mount['subPath']) !== '',
      };
    });
}
