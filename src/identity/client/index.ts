export { IdentityClient, type CallOptions, type IdentityClientOptions } from './identity-client';
export { type Fetch, type FetchedResponse } from './call-userinfo';
export {
  APIError,
  AuthenticationError,
  IdentityError,
  type APIErrorCode,
  type IdentityErrorDetails,
} from './errors';
export {
  type Email,
  type Meta,
  type Names,
  type Photo,
  type UserInfo,
  type UserInfoResponse,
  type Verification,
} from '../contract/user-info';
