#!/usr/bin/env bash
# go-control-plane 0.14.0: a snapshot with other resources under the same version is sent to clients of the delta protocol, never to
# those of the state-of-the-world protocol.
#
# The SnapshotCache compares versions of snapshots for the one, and hashes of resources for the other. A control plane that forgets
# to raise its version works for half of its clients; the others keep the old resources without a word until the version changes.
# Package: Go module github.com/envoyproxy/go-control-plane v0.14.0 (with envoy v1.36.0 and grpc v1.75.1). Needs Go 1.24.
# Seen on 2026-11-28:
#   state of the world: first answer version 1, other resources under version 1 nothing, version 2 answer version 2
#   delta: first answer version 1, other resources under version 1 answer version 1, version 2 nothing
# (the last for delta: the resources are those that were sent already.) Exits with 1 when it is something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export GOMODCACHE="$folder/modules" GOFLAGS=-modcacherw
cat > go.mod <<'MOD'
module finding

go 1.24

require (
	github.com/envoyproxy/go-control-plane v0.14.0
	github.com/envoyproxy/go-control-plane/envoy v1.36.0
	google.golang.org/grpc v1.75.1
)
MOD
cat > main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

var node = &core.Node{Id: "node"}
var client discovery.AggregatedDiscoveryServiceClient

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// play publishes resource a as version 1, resource b as version 1, and resource b as version 2; it says what each brings.
func play(snapshots cache.SnapshotCache, open func() <-chan string) string {
	publish := func(version, name string) {
		one := []types.Resource{&cluster.Cluster{Name: "one", AltStatName: name}}
		snapshot, err := cache.NewSnapshot(version, map[resource.Type][]types.Resource{resource.ClusterType: one})
		check(err)
		check(snapshots.SetSnapshot(context.Background(), node.Id, snapshot))
	}
	publish("1", "a")
	answers := open()
	next := func() string {
		select {
		case version := <-answers:
			return "answer version " + version
		case <-time.After(time.Second):
			return "nothing"
		}
	}
	first := next()
	// Lets the acknowledgement come before the next version.
	time.Sleep(200 * time.Millisecond)
	publish("1", "b")
	second := next()
	publish("2", "b")
	return fmt.Sprintf("first %s, other resources under version 1 %s, version 2 %s", first, second, next())
}

func openState() <-chan string {
	stream, err := client.StreamAggregatedResources(context.Background())
	check(err)
	check(stream.Send(&discovery.DiscoveryRequest{Node: node, TypeUrl: resource.ClusterType}))
	answers := make(chan string, 10)
	go func() {
		for {
			answer, err := stream.Recv()
			if err != nil {
				return
			}
			check(stream.Send(&discovery.DiscoveryRequest{TypeUrl: resource.ClusterType, VersionInfo: answer.VersionInfo, ResponseNonce: answer.Nonce}))
			answers <- answer.VersionInfo
		}
	}()
	return answers
}

func openDelta() <-chan string {
	stream, err := client.DeltaAggregatedResources(context.Background())
	check(err)
	check(stream.Send(&discovery.DeltaDiscoveryRequest{Node: node, TypeUrl: resource.ClusterType}))
	answers := make(chan string, 10)
	go func() {
		for {
			answer, err := stream.Recv()
			if err != nil {
				return
			}
			check(stream.Send(&discovery.DeltaDiscoveryRequest{TypeUrl: resource.ClusterType, ResponseNonce: answer.Nonce}))
			answers <- answer.SystemVersionInfo
		}
	}()
	return answers
}

func main() {
	isExpected := true
	for _, protocol := range []struct {
		name, expected string
		open           func() <-chan string
	}{
		{"state of the world", "first answer version 1, other resources under version 1 nothing, version 2 answer version 2", openState},
		{"delta", "first answer version 1, other resources under version 1 answer version 1, version 2 nothing", openDelta},
	} {
		snapshots := cache.NewSnapshotCache(true, cache.IDHash{}, nil)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		check(err)
		service := grpc.NewServer()
		discovery.RegisterAggregatedDiscoveryServiceServer(service, server.NewServer(context.Background(), snapshots, nil))
		go service.Serve(listener)
		connection, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		check(err)
		client = discovery.NewAggregatedDiscoveryServiceClient(connection)
		found := play(snapshots, protocol.open)
		fmt.Println(protocol.name + ": " + found)
		isExpected = isExpected && found == protocol.expected
		connection.Close()
		service.Stop()
	}
	if !isExpected {
		os.Exit(1)
	}
}
GO
go mod tidy 2>/dev/null
go run .
