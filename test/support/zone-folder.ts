import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openZones, type RefusedZone } from '../../src/zoneinfo/open-zones';
import { writeTzif } from './tzif';

/** A folder of time zones, as systems have them, with those of the package beside them. */
export function createZoneFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'weir-zones-'));
  const write = (name: string, content: string | Buffer): string => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  };
  return {
    folder,
    write,
    /** Zones of the system, of a release, each with one offset. */
    writeSystem(release: string, zones: Readonly<Record<string, string>> = {}) {
      write('tzdata.zi', `# version ${release}\n# and more\n`);
      for (const [name, footer] of Object.entries(zones)) write(name, writeTzif({ footer }));
    },
    /** As the package brings them, with one zone. */
    writePackage(release: string, name: string, footer: string): string {
      const zone = writeTzif({ footer });
      const index = `${name} 0 ${String(zone.length)}\n`;
      const head = `weir zones 1\nrelease ${release}\nindex ${String(index.length)}\n`;
      return write('zones.tzif', Buffer.concat([Buffer.from(head + index), zone]));
    },
    open(options: { runtime?: string; folder?: string } = {}) {
      const refused: RefusedZone[] = [];
      const zones = openZones({
        folder: options.folder ?? folder,
        packageFile: join(folder, 'zones.tzif'),
        runtimeRelease: options.runtime ?? '2025c',
        onRefused: (one) => refused.push(one),
      });
      return { ...zones, refused };
    },
    remove() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type ZoneFolder = ReturnType<typeof createZoneFolder>;
