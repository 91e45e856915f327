import { readMachine } from '../../../../../src/app/workers/pool/machine';

const HOST_CPUS = 16;
const read = (files: Readonly<Record<string, string>>) =>
  readMachine((path) => files[path], HOST_CPUS);

describe('the machine as this process may use it', () => {
  it('has the CPUs of the host and no limits where nothing can be read', () => {
    expect(read({})).toEqual({
      cpus: HOST_CPUS,
      cpuQuota: undefined,
      memoryBytes: undefined,
      openFiles: undefined,
    });
  });

  it.each([
    ['0-3', 4],
    ['0-3,8,10-11', 7],
    ['5', 1],
  ])('counts the CPUs of the affinity mask %s', (list, cpus) => {
    expect(read({ '/proc/self/status': `Name:\tnode\nCpus_allowed_list:\t${list}\n` }).cpus).toBe(
      cpus,
    );
  });

  it('reads quotas of cgroup v2 in a container, which sees its own group as the root', () => {
    const machine = read({
      '/proc/self/cgroup': '0::/\n',
      '/sys/fs/cgroup/cpu.max': '250000 100000\n',
      '/sys/fs/cgroup/memory.max': '536870912\n',
    });
    expect(machine).toMatchObject({ cpuQuota: 2.5, memoryBytes: 536_870_912 });
  });

  it('takes the least limit of all groups above the process', () => {
    const machine = read({
      '/proc/self/cgroup': '0::/kubepods/pod1/box\n',
      '/sys/fs/cgroup/kubepods/cpu.max': '800000 100000',
      '/sys/fs/cgroup/kubepods/pod1/cpu.max': '400000 100000',
      '/sys/fs/cgroup/kubepods/pod1/box/cpu.max': 'max 100000',
      '/sys/fs/cgroup/kubepods/pod1/box/memory.max': 'max',
      '/sys/fs/cgroup/kubepods/memory.max': '1000000000',
    });
    expect(machine).toMatchObject({ cpuQuota: 4, memoryBytes: 1_000_000_000 });
  });

  it('reads quotas of cgroup v1, where no limit is a huge one', () => {
    const files = {
      '/proc/self/cgroup': '4:cpu,cpuacct:/docker/a\n3:memory:/docker/a\n0::/\n',
      '/sys/fs/cgroup/cpu/docker/a/cpu.cfs_quota_us': '150000\n',
      '/sys/fs/cgroup/cpu/docker/a/cpu.cfs_period_us': '100000\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    };
    expect(read(files)).toMatchObject({ cpuQuota: 1.5, memoryBytes: undefined });
    const limited = { ...files, '/sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes': '4096000' };
    expect(read(limited).memoryBytes).toBe(4_096_000);
  });

  it('reads how many files it may have open', () => {
    const limits =
      'Limit  Soft Limit  Hard Limit  Units\nMax open files            1024   4096   files\n';
    expect(read({ '/proc/self/limits': limits }).openFiles).toBe(1_024);
    expect(
      read({ '/proc/self/limits': 'Max open files  unlimited  unlimited  files\n' }).openFiles,
    ).toBeUndefined();
  });
});
