import type { UserInfo } from '../contract/user-info';
import type { UserRecord } from '../store/records';

/** The documented fields, in the order of identity.openapi.json. */
export function toUser(user: UserRecord): UserInfo {
  const { id, externalId, userName, displayName, emails, photos, names, verifications } = user;
  const { provider, environmentId } = user;
  const { familyName, givenName } = names;
  return {
    id,
    externalId,
    userName,
    displayName,
    emails,
    photos,
    names: { familyName, givenName },
    verifications,
    provider,
    environmentId,
  };
}

/**
 * What strict published clients cannot do without (IDENTITY_USERINFO_PROFILE=full). Entries that need
 * an id of their own get one made of the user's and their place.
 */
export function toFullUser(user: UserRecord) {
  const { emails, photos, names, ...rest } = user;
  const entryId = (kind: string, index: number): string => `${user.id}-${kind}-${String(index)}`;
  return {
    ...rest,
    names: { id: `${user.id}-names`, ...names },
    emails: emails.map((email, index) => ({ id: entryId('email', index), ...email })),
    photos: photos.map((photo, index) => ({ id: entryId('photo', index), ...photo })),
    phoneNumbers: [],
    addresses: [],
  };
}
