import { USAGE } from '../../../src/cli/options';
import { completionOf } from '../../../src/platform/flags';

it('offers every flag of a help once, and no word of its prose', () => {
  const help =
    'usage: tool [--all]\n\n  --all, -a    print all of a sub-folder\n  -dir DIR     --all of it\n  -sha256      hash\n';
  expect(completionOf('tool', help)).toBe("complete -o default -W '--all -a -dir -sha256' tool\n");
});

it('offers the words of subcommands with their flags', () => {
  const help = '  tool user add [--id <id>]\n      adds a user\n  tool user list\n';
  expect(completionOf('tool', help)).toBe("complete -o default -W '--id user add list' tool\n");
});

it('offers the flags of the client', () => {
  expect(completionOf('ratelimit-client', USAGE)).toContain("'-dial_string -domain ");
});
