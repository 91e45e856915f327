import { followFiles } from './follow-files';

/** A process of its own: follows the rules under its argument, stops after two loads, and must then end by itself. */
const followed = followFiles({ root: process.argv[2] ?? '' });
void followed
  .loaded(1)
  .then(() => {
    process.stdout.write('loaded\n');
    return followed.loaded(2);
  })
  .then(() => {
    followed.stop();
  });
