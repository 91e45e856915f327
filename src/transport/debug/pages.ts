/** Lines of the debug port's front page; `docs/endpoints.md` has the details. */
export const INDEX_PAGE = [
  ['/', 'this list'],
  ['/ui', 'a page to look at: rules, traffic, hot keys and the store, live'],
  ['/rlconfig', 'the rules that are in force, one line for each limit'],
  ['/stats', 'all statistics as text; ?format=json for JSON'],
  ['/api/v1/', 'the operator API: explain, counters, rules, hot, limited, version (ADMIN_API)'],
  ['/debug/pprof/', 'profiles of this process, for `go tool pprof`'],
]
  .map(([path = '', about = '']) => `${path}: ${about}\n`)
  .join('');

const PPROF_PAGE = [
  ['/debug/pprof/profile?seconds=30', 'CPU profile over so many seconds (1 to 60)'],
  ['/debug/pprof/heap?seconds=10', 'allocations of so many seconds that are still alive'],
  ['&gc=1', 'heap only: collect garbage first (stops the service for a moment)'],
  ['&format=v8', "V8's own JSON, for Chrome's developer tools and speedscope"],
]
  .map(([path = '', about = '']) => `${path}: ${about}\n`)
  .join('');

/** `workers`: number of other processes to profile. */
export function pprofPage(workers = 0): string {
  const lines = Array.from({ length: workers }, (_, i) => {
    const worker = String(i + 1);
    return `&worker=${worker}: of worker ${worker} instead of the owner\n`;
  });
  return [PPROF_PAGE, ...lines].join('');
}
