import { createMailbox } from '../../../streams';

/** Reads a mailbox into a list, with `end` where it completed. */
function read(mailbox: {
  readonly messages$: ReturnType<typeof createMailbox<string>>['messages$'];
}) {
  const seen: string[] = [];
  const subscription = mailbox.messages$.subscribe({
    next: (message) => seen.push(message),
    error: (error: unknown) => seen.push((error as Error).message),
    complete: () => seen.push('end'),
  });
  return { seen, subscription };
}

it('delivers what is posted while somebody reads, and says where nobody does', () => {
  const mailbox = createMailbox<string>();
  expect(mailbox.post('lost')).toBe(false);
  const { seen, subscription } = read(mailbox);
  expect(mailbox.post('a')).toBe(true);
  expect(seen).toEqual(['a']);
  subscription.unsubscribe();
  expect(mailbox.post('lost')).toBe(false);
});

it('has one reader at a time', () => {
  const mailbox = createMailbox<string>();
  const first = read(mailbox);
  expect(read(mailbox).seen).toEqual(['the mailbox has a reader already']);
  mailbox.post('a');
  expect(first.seen).toEqual(['a']);
  first.subscription.unsubscribe();
  const next = read(mailbox);
  mailbox.post('b');
  expect(next.seen).toEqual(['b']);
});

it('ends its reader, and every later one, when it is closed', () => {
  const mailbox = createMailbox<string>();
  const { seen } = read(mailbox);
  mailbox.close();
  mailbox.close();
  expect(seen).toEqual(['end']);
  expect(mailbox.post('lost')).toBe(false);
  expect(read(mailbox).seen).toEqual(['end']);
});
