import { UsageError, type Descriptor } from './options';

/** Reads `key=value,key2=value2`. A value may hold `=`, nothing may hold a comma. */
export function parseDescriptor(text: string): Descriptor {
  return {
    entries: text.split(',').map((pair) => {
      const split = pair.indexOf('=');
      if (split > 0) return { key: pair.slice(0, split), value: pair.slice(split + 1) };
      const shown = `${JSON.stringify(pair)} of ${JSON.stringify(text)}`;
      throw new UsageError(`-descriptors: ${shown} is not <key>=<value>`);
    }),
  };
}
