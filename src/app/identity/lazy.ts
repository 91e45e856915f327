import type * as CreateJwtVerifier from '../../identity/jwt/create-jwt-verifier';
import type * as KeySet from '../../identity/jwt/key-set';
import type * as GrpcDecisions from '../../identity/limits/grpc-decisions';
import type * as RedisStore from '../../identity/store/redis/create-redis-store';
import type * as InProcess from './in-process-decisions';

/** The modules of the identity service that only some settings need. */
export const lazy = {
  grpcDecisions: () => require('../../identity/limits/grpc-decisions') as typeof GrpcDecisions,
  inProcess: () => require('./in-process-decisions') as typeof InProcess,
  jwtVerifier: () => require('../../identity/jwt/create-jwt-verifier') as typeof CreateJwtVerifier,
  keySet: () => require('../../identity/jwt/key-set') as typeof KeySet,
  redisStore: () => require('../../identity/store/redis/create-redis-store') as typeof RedisStore,
};
