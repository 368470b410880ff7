package rpc

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// detached ends when its parent ends but knows none of its values. What it knows is the
// metadata of the call.
type detached struct {
	parent   context.Context
	metadata metadata.MD
}

// localMetadata is the key of the metadata of a call inside the process.
type localMetadata struct{}

// Deadline is that of the parent.
func (d detached) Deadline() (time.Time, bool) { return d.parent.Deadline() }

// Done is that of the parent.
func (d detached) Done() <-chan struct{} { return d.parent.Done() }

// Err is that of the parent.
func (d detached) Err() error { return d.parent.Err() }

// Value returns nil for every key but that of the metadata.
func (d detached) Value(key any) any {
	if key == (localMetadata{}) {
		return d.metadata
	}
	return nil
}

// AfterFunc lets contexts below this one wait for the parent's end without a
// goroutine; package context looks for it.
func (d detached) AfterFunc(f func()) func() bool { return context.AfterFunc(d.parent, f) }

// localStream collects the headers that a handler sets.
type localStream struct {
	method string

	mu              sync.Mutex
	header, trailer metadata.MD
	sent            bool
}

// Method is the full name of the method.
func (s *localStream) Method() string { return s.method }

// SetHeader adds headers; after SendHeader it is too late.
func (s *localStream) SetHeader(md metadata.MD) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent {
		return errors.New("the headers were sent already")
	}
	s.header = joined(s.header, md)
	return nil
}

// SendHeader adds headers, the last ones.
func (s *localStream) SendHeader(md metadata.MD) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent {
		return errors.New("the headers were sent already")
	}
	s.header, s.sent = joined(s.header, md), true
	return nil
}

// SetTrailer adds trailers.
func (s *localStream) SetTrailer(md metadata.MD) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trailer = joined(s.trailer, md)
	return nil
}

func joined(a, b metadata.MD) metadata.MD {
	if len(a) == 0 {
		return b.Copy()
	}
	return metadata.Join(a, b)
}

// callOptions are the call options that mean something inside a process.
type callOptions struct {
	codec       encoding.CodecV2
	maxResponse int
	header      []*metadata.MD
	trailer     []*metadata.MD
	peer        []*peer.Peer
	onFinish    []func(error)
}

// read takes over the options of a call. It refuses those that would change
// the call but cannot be followed, and skips those that concern a network.
func (o *callOptions) read(opts []grpc.CallOption) error {
	for _, opt := range opts {
		switch opt := opt.(type) {
		case grpc.ForceCodecV2CallOption:
			o.codec = opt.CodecV2
		case grpc.HeaderCallOption:
			o.header = append(o.header, opt.HeaderAddr)
		case grpc.TrailerCallOption:
			o.trailer = append(o.trailer, opt.TrailerAddr)
		case grpc.PeerCallOption:
			o.peer = append(o.peer, opt.PeerAddr)
		case grpc.OnFinishCallOption:
			o.onFinish = append(o.onFinish, opt.OnFinish)
		case grpc.MaxRecvMsgSizeCallOption:
			o.maxResponse = opt.MaxRecvMsgSize
		case grpc.ForceCodecCallOption, grpc.ContentSubtypeCallOption, grpc.PerRPCCredsCallOption:
			return status.Errorf(codes.Internal, "the call option %T cannot be followed in process", opt)
		}
	}
	return nil
}

// response fills in what the options ask for.
func (o *callOptions) response(stream *localStream, from *peer.Peer) {
	stream.mu.Lock()
	defer stream.mu.Unlock()
	for _, header := range o.header {
		*header = stream.header
	}
	for _, trailer := range o.trailer {
		*trailer = stream.trailer
	}
	for _, p := range o.peer {
		*p = *from
	}
}
