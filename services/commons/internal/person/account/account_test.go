package account

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// refusing is auth that refuses users by their names or ids, all at once.
type refusing struct {
	authv1.UserServiceClient
	names map[string]string // the code for each
	ids   map[int64]bool
	// requests are the ids of the last request, and calls how many there were.
	requests []int64
	calls    int
}

// refuse returns the error for the elements at some positions, which says nothing of them
// unless there are results.
func refuse(offsets []int32, results []*commonv1.BulkResult) error {
	return fault.Conflict(fault.CodeConflict, "no").WithDetails(&commonv1.ErrorDetails{ErrorOffsets: offsets, Results: results})
}

func (r *refusing) PutUsers(_ context.Context, req *authv1.PutUsersRequest, _ ...grpc.CallOption) (*emptypb.Empty, error) {
	r.calls++
	var offsets []int32
	results := make([]*commonv1.BulkResult, len(req.GetUsers()))
	r.requests = nil
	for i, u := range req.GetUsers() {
		results[i] = &commonv1.BulkResult{}
		if code, refused := r.names[u.GetUsername()]; refused {
			offsets = append(offsets, int32(i))
			if code != "" {
				results[i].Error = &commonv1.ErrorBody{ErrorCode: code, Message: "no"}
			}
		}
		r.requests = append(r.requests, u.GetPersonId())
	}
	if offsets != nil {
		return nil, refuse(offsets, results)
	}
	return &emptypb.Empty{}, nil
}

func (r *refusing) LockOutUsers(_ context.Context, req *authv1.LockOutUsersRequest, _ ...grpc.CallOption) (*emptypb.Empty, error) {
	r.calls++
	var offsets []int32
	r.requests = nil
	for i, u := range req.GetUsers() {
		if r.ids[u.GetPersonId()] {
			offsets = append(offsets, int32(i))
		}
		r.requests = append(r.requests, u.GetPersonId())
	}
	if offsets != nil {
		return nil, refuse(offsets, nil)
	}
	return &emptypb.Empty{}, nil
}

// Auth refuses all when it refuses one. The others are asked for again.
func TestAccountsThatAuthRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		refused  map[string]string
		codes    [3]string // of the accounts a, b and c
		requests []int64   // the last time
		calls    int
	}{
		{"none", nil, [3]string{}, []int64{1, 2, 3}, 1},
		{"one that is taken", map[string]string{"b": ""}, [3]string{"", rules.CodeNotUnique, ""}, []int64{1, 3}, 2},
		{"one for a reason of its own", map[string]string{"a": "WRL-1", "c": ""}, [3]string{"WRL-1", "", rules.CodeNotUnique}, []int64{2}, 2},
		{"all", map[string]string{"a": "", "b": "", "c": fault.CodeNoAccess}, [3]string{rules.CodeNotUnique, rules.CodeNotUnique, fault.CodeNoAccess}, []int64{1, 2, 3}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			auth := &refusing{names: c.refused}
			var items []*store.Item
			for i, name := range []string{"a", "b", "c"} {
				items = append(items, &store.Item{Change: store.Change{ID: int64(i + 1), Draft: &rules.Draft{
					Record: datedRecord("", "", "", ""), Account: &rules.UserAccount{UserName: name},
				}}})
			}
			require.NoError(t, New(nil, auth, nil).putAccounts(t.Context(), items))
			for i, code := range c.codes {
				assert.Equal(t, code == "", items[i].Err == nil, "%v", items[i].Err)
				assert.Equal(t, code != "", fault.HasCode(items[i].Err, code), "%v", items[i].Err)
			}
			assert.Equal(t, c.requests, auth.requests)
			assert.Equal(t, c.calls, auth.calls)
		})
	}
}

func TestIntentsOfOneRequestAreCarriedOutTogether(t *testing.T) {
	t.Parallel()
	one := intent{Tenant: 1, Person: 1, Version: 5, User: "ada", ByPerson: 9, Client: "web", RequestID: "r-1"}
	for name, change := range map[string]func(*intent){
		"another tenant":  func(i *intent) { i.Tenant = 2 },
		"another user":    func(i *intent) { i.User = "bob" },
		"another person":  func(i *intent) { i.ByPerson = 8 },
		"another client":  func(i *intent) { i.Client = "app" },
		"another request": func(i *intent) { i.RequestID = "r-2" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same, other := one, one
			same.Person, same.Version = 3, 7
			other.Person = 2
			change(&other)
			groups := groupIntents([]intent{one, other, same})
			require.Len(t, groups, 2)
			ids, versions := groups[0].columns()
			assert.Equal(t, []int64{1, 3}, ids)
			assert.Equal(t, []int64{5, 7}, versions)
			ids, _ = groups[1].columns()
			assert.Equal(t, []int64{2}, ids)
			assert.Equal(t, other.RequestID, groups[1].initiator.GetRequestId())
			assert.Equal(t, other.Tenant, groups[1].tenant)
		})
	}
}
