import { readTable } from '../../../src/platform/env-table/table';
import { boundsTable } from '../../../src/settings/servers';
import { DEFAULT_BOUNDS } from '../../../src/transport/bounds';

describe('DEFAULT_BOUNDS', () => {
  it('are those of the settings', () => {
    const { values } = readTable(boundsTable, {}, { problems: [], warnings: [] });
    expect(values).toMatchObject(DEFAULT_BOUNDS);
  });
});
