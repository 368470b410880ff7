package gateway

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// memoryKeyStore is the service that remembers keys, with nothing but a map.
type memoryKeyStore struct {
	platformv1.UnimplementedIdempotencyServiceServer
	mu    sync.Mutex
	rows  map[string]*keyRow
	user  string
	count int64
	// settled gets a word for each key that is settled.
	settled chan string
	broken  bool
	// unavailable is how often it is still away.
	unavailable int
}

type keyRow struct {
	fingerprint []byte
	attempt     int64
	response    *platformv1.StoredResponse
}

func (b *memoryKeyStore) ClaimIdempotencyKey(ctx context.Context, r *platformv1.ClaimIdempotencyKeyRequest) (*platformv1.ClaimIdempotencyKeyResponse, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if md, _ := metadata.FromIncomingContext(ctx); len(md.Get("authorization")) == 1 {
		b.user = md.Get("authorization")[0]
	}
	row := b.rows[r.GetOperation()+r.GetKey()]
	switch {
	case row == nil:
		b.count++
		b.rows[r.GetOperation()+r.GetKey()] = &keyRow{fingerprint: r.GetFingerprint(), attempt: b.count}
		return &platformv1.ClaimIdempotencyKeyResponse{Attempt: b.count}, nil
	case !bytes.Equal(row.fingerprint, r.GetFingerprint()):
		return nil, fault.New(fault.CodeKeyReused, http.StatusUnprocessableEntity, "Reused.").GRPCStatus().Err()
	case row.response == nil:
		return nil, fault.Conflict(fault.CodeKeyRunning, "Runs.").GRPCStatus().Err()
	}
	return &platformv1.ClaimIdempotencyKeyResponse{Response: row.response}, nil
}

func (b *memoryKeyStore) SettleIdempotencyKey(_ context.Context, r *platformv1.SettleIdempotencyKeyRequest) (*emptypb.Empty, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() { b.settled <- r.GetKey() }()
	b.unavailable--
	if b.broken || b.unavailable >= 0 {
		return nil, fault.Unavailable("Away.", 0).GRPCStatus().Err()
	}
	if row := b.rows[r.GetOperation()+r.GetKey()]; row.attempt == r.GetAttempt() {
		row.response = r.GetResponse()
		if row.response == nil {
			delete(b.rows, r.GetOperation()+r.GetKey())
		}
	}
	return &emptypb.Empty{}, nil
}

// serveKeys starts an edge over the fakes that remembers keys.
func serveKeys(t *testing.T, cfg Config, f *fakes) (*httptest.Server, *memoryKeyStore) {
	t.Helper()
	book := &memoryKeyStore{rows: map[string]*keyRow{}, settled: make(chan string, 100)}
	f.keys = book
	front, _ := serveEdge(t, cfg, f)
	return front, book
}

// counting creates shifts whose response says how often it was asked.
func counting(also func(context.Context, *schedulingv1.Shift) error) (*fakes, func() int) {
	var mu sync.Mutex
	calls := 0
	f := &fakes{createShifts: func(ctx context.Context, s *schedulingv1.Shift) (*schedulingv1.ShiftList, error) {
		mu.Lock()
		calls++
		n := calls
		mu.Unlock()
		if err := also(ctx, s); err != nil {
			return nil, err
		}
		list := &schedulingv1.ShiftList{Shifts: []*schedulingv1.Shift{{Id: proto.Int64(int64(n)), Label: s.GetLabel()}}}
		return list, rpc.SetContentLocation(ctx, fmt.Sprint("/v1/things/", n))
	}}
	return f, func() int {
		mu.Lock()
		defer mu.Unlock()
		return calls
	}
}

func nothingElse(context.Context, *schedulingv1.Shift) error { return nil }

func userCall(t *testing.T, s *httptest.Server, method, path, body string, headers ...string) reply {
	t.Helper()
	return call(t, s, method, path, body, append(headers, "Authorization", "abc")...)
}
