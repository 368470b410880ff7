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

// detached ends when its parent ends, but has none of its values. Its only value is the metadata of
// the call.
type detached struct {
	parent   context.Context
	metadata metadata.MD
}

// localMetadata is the context key of the metadata of a call inside the process.
type localMetadata struct{}

// Deadline returns the parent's deadline.
func (d detached) Deadline() (time.Time, bool) { return d.parent.Deadline() }

// Done returns the parent's channel.
func (d detached) Done() <-chan struct{} { return d.parent.Done() }

// Err returns the parent's error.
func (d detached) Err() error { return d.parent.Err() }

// Value returns the metadata for its key, and nil for every other key.
func (d detached) Value(key any) any {
	if key == (localMetadata{}) {
		return d.metadata
	}
	return nil
}

// AfterFunc lets derived contexts wait for the parent's end without a goroutine; package context
// looks for this method.
func (d detached) AfterFunc(f func()) func() bool { return context.AfterFunc(d.parent, f) }

// localStream collects the headers that a handler sets.
type localStream struct {
	method string

	mu              sync.Mutex
	header, trailer metadata.MD
	sent            bool
}

// Method returns the full name of the method.
func (s *localStream) Method() string { return s.method }

// SetHeader adds headers. It fails after SendHeader.
func (s *localStream) SetHeader(md metadata.MD) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent {
		return errors.New("the headers were already sent")
	}
	s.header = joinMetadata(s.header, md)
	return nil
}

// SendHeader adds headers and closes them.
func (s *localStream) SendHeader(md metadata.MD) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent {
		return errors.New("the headers were already sent")
	}
	s.header, s.sent = joinMetadata(s.header, md), true
	return nil
}

// SetTrailer adds trailers.
func (s *localStream) SetTrailer(md metadata.MD) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trailer = joinMetadata(s.trailer, md)
	return nil
}

func joinMetadata(a, b metadata.MD) metadata.MD {
	if len(a) == 0 {
		return b.Copy()
	}
	return metadata.Join(a, b)
}

// callOptions are the call options that apply inside a process.
type callOptions struct {
	codec       encoding.CodecV2
	maxResponse int
	header      []*metadata.MD
	trailer     []*metadata.MD
	peer        []*peer.Peer
	onFinish    []func(error)
}

// read collects the options of a call. It rejects options that it cannot follow, and skips options
// that concern the network.
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
			return status.Errorf(codes.Internal, "the call option %T does not work in process", opt)
		}
	}
	return nil
}

// response fills in the variables that the options point to.
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
