/*
 * Writes src/transport/grpc/generated/descriptors.ts: what the reflection service tells of the protocol.
 * `node proto/generate-descriptors.cjs` writes it, with `--check` it only says whether it is up to date.
 */
const { readFileSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const prettier = require('prettier');
const protobuf = require('protobufjs');
const { FileDescriptorProto } = require('protobufjs/ext/descriptor');

const OUTPUT = join(__dirname, '../src/transport/grpc/generated/descriptors.ts');
const FOLDERS = [
  __dirname,
  join(dirname(require.resolve('grpc-health-check')), '../../proto'),
  join(dirname(require.resolve('@grpc/reflection')), '../proto'),
];
const FILES = [
  'envoy/service/ratelimit/v3/rls.proto',
  'health/v1/health.proto',
  'grpc/reflection/v1/reflection.proto',
  'grpc/reflection/v1alpha/reflection.proto',
];

/** Numbers of google.protobuf.FieldDescriptorProto.Type. */
const SCALARS = {
  double: 1,
  float: 2,
  int64: 3,
  uint64: 4,
  int32: 5,
  fixed64: 6,
  fixed32: 7,
  bool: 8,
  string: 9,
};
const MORE_SCALARS = { bytes: 12, uint32: 13, sfixed32: 15, sfixed64: 16, sint32: 17, sint64: 18 };
const TYPE_NUMBERS = { ...SCALARS, ...MORE_SCALARS };
const TYPE_MESSAGE = 11;
const TYPE_ENUM = 14;
const LABEL_OPTIONAL = 1;
const LABEL_REPEATED = 3;

function fileOf(name) {
  for (const folder of FOLDERS) {
    const path = join(folder, name);
    try {
      return { path, text: readFileSync(path, 'utf8') };
    } catch {
      // The next folder may have it.
    }
  }
  return undefined;
}

/** The files with all that they import, dependencies first; what protobufjs brings along has no text. */
function closure(names, known = new Map()) {
  for (const name of names) {
    if (known.has(name)) continue;
    const text = fileOf(name)?.text;
    const imports = [...(text ?? '').matchAll(/^import "([^"]+)";/gm)].map(([, file]) => file);
    closure(imports, known);
    known.set(name, { name, text, imports });
  }
  return [...known.values()];
}

function toField(field, oneofs) {
  const { resolvedType } = field.resolve();
  const isEnum = resolvedType instanceof protobuf.Enum;
  const ofMessage = isEnum ? TYPE_ENUM : TYPE_MESSAGE;
  // The types that protobufjs brings along are written in camelCase.
  const name = field.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return {
    name,
    number: field.id,
    label: field.repeated || field.map ? LABEL_REPEATED : LABEL_OPTIONAL,
    type: field.map ? TYPE_MESSAGE : resolvedType ? ofMessage : TYPE_NUMBERS[field.type],
    ...(field.map && { typeName: `${field.parent.fullName}.${entryName(field)}` }),
    ...(!field.map && resolvedType && { typeName: resolvedType.fullName }),
    ...(field.partOf && { oneofIndex: oneofs.indexOf(field.partOf) }),
    jsonName: name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()),
  };
}

function entryName(field) {
  return `${field.name.replace(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase())}Entry`;
}

function toMapEntry(field) {
  const { resolvedType } = field.resolve();
  const value = resolvedType
    ? { type: TYPE_MESSAGE, typeName: resolvedType.fullName }
    : { type: TYPE_NUMBERS[field.type] };
  return {
    name: entryName(field),
    field: [
      {
        name: 'key',
        number: 1,
        label: LABEL_OPTIONAL,
        type: TYPE_NUMBERS[field.keyType],
        jsonName: 'key',
      },
      { name: 'value', number: 2, label: LABEL_OPTIONAL, ...value, jsonName: 'value' },
    ],
    options: { mapEntry: true },
  };
}

function toMessage(type) {
  const nested = type.nestedArray;
  const maps = type.fieldsArray.filter((field) => field.map);
  return {
    name: type.name,
    field: type.fieldsArray.map((field) => toField(field, type.oneofsArray)),
    nestedType: [
      ...nested.filter((item) => item instanceof protobuf.Type).map(toMessage),
      ...maps.map(toMapEntry),
    ],
    enumType: nested.filter((item) => item instanceof protobuf.Enum).map(toEnum),
    oneofDecl: type.oneofsArray.map(({ name }) => ({ name })),
  };
}

function toEnum({ name, values }) {
  return {
    name,
    value: Object.entries(values).map(([valueName, number]) => ({ name: valueName, number })),
  };
}

function toService(service) {
  return {
    name: service.name,
    method: service.methodsArray.map((method) => {
      method.resolve();
      return {
        name: method.name,
        inputType: method.resolvedRequestType.fullName,
        outputType: method.resolvedResponseType.fullName,
        clientStreaming: method.requestStream === true,
        serverStreaming: method.responseStream === true,
      };
    }),
  };
}

/** Every name in a file that somebody may ask for. */
function symbolsOf(items) {
  return items.flatMap((item) => [
    item.fullName.slice(1),
    ...symbolsOf(item.nestedArray ?? []),
    ...symbolsOf(item.methodsArray ?? []),
  ]);
}

function build() {
  const root = new protobuf.Root();
  const files = closure(FILES);
  const owners = new Map();
  for (const { name, text } of files) {
    const before = new Set(all(root));
    if (text === undefined) root.addJSON(protobuf.common.get(name).nested);
    else protobuf.parse(text, root, { keepCase: true });
    for (const item of all(root)) if (!before.has(item)) owners.set(item, name);
  }
  root.resolveAll();
  return files.map(({ name, imports }) => {
    const items = [...owners].filter(([, owner]) => owner === name).map(([item]) => item);
    const package_ = items[0].parent.fullName.slice(1);
    const descriptor = {
      name,
      package: package_,
      dependency: imports,
      messageType: items.filter((item) => item instanceof protobuf.Type).map(toMessage),
      enumType: items.filter((item) => item instanceof protobuf.Enum).map(toEnum),
      service: items.filter((item) => item instanceof protobuf.Service).map(toService),
      syntax: 'proto3',
    };
    const bytes = FileDescriptorProto.encode(FileDescriptorProto.fromObject(descriptor)).finish();
    return {
      name,
      imports,
      symbols: symbolsOf(items),
      base64: Buffer.from(bytes).toString('base64'),
    };
  });
}

/** All messages, enums and services that stand directly in a package. */
function all(namespace) {
  return namespace.nestedArray.flatMap((item) =>
    item.constructor === protobuf.Namespace ? all(item) : [item],
  );
}

async function main() {
  const text = `// Written by proto/generate-descriptors.cjs; do not edit.
/** The files of the protocol as google.protobuf.FileDescriptorProto, those that others import first. */
export const DESCRIPTOR_FILES: readonly {
  readonly name: string;
  readonly imports: readonly string[];
  readonly symbols: readonly string[];
  readonly base64: string;
}[] = ${JSON.stringify(build())};
`;
  const options = await prettier.resolveConfig(OUTPUT);
  const formatted = await prettier.format(text, { ...options, parser: 'typescript' });
  if (!process.argv.includes('--check')) {
    writeFileSync(OUTPUT, formatted);
  } else if (readFileSync(OUTPUT, 'utf8') !== formatted) {
    console.error(`${OUTPUT} is stale: run node proto/generate-descriptors.cjs`);
    process.exitCode = 1;
  }
}

void main();
