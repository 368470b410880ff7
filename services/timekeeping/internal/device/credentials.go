package device

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
)

// accessProfile is the default access profile of the clients of devices.
const accessProfile = "Device"

// scopes are the permissions of the clients of devices. They bound the clients even if an
// administrator extends the access profile.
var scopes = []string{"udm.device_punch.write", "udm.device_employee.read", "udm.device_state.write"}

// Credentials serves DeviceCredentialsService. The credentials are clients of auth. Each device
// stores the id of its client before the client is created, so that an interrupted request leaves
// no client that belongs to no device; the next request completes it.
type Credentials struct {
	udmv1.UnsafeDeviceCredentialsServiceServer
	pool    *pg.Pool
	clients authv1.ClientServiceClient
}

var _ udmv1.DeviceCredentialsServiceServer = (*Credentials)(nil)

// NewCredentials returns Credentials of the devices in the database of the pool.
func NewCredentials(pool *pg.Pool, clients authv1.ClientServiceClient) *Credentials {
	return &Credentials{pool: pool, clients: clients}
}

const (
	nameClient = `
UPDATE device SET client_id = coalesce(client_id, $3) WHERE tenant_id = $1 AND id = $2 RETURNING client_id`

	forgetClient = `UPDATE device SET client_id = NULL WHERE tenant_id = $1 AND id = $2 AND client_id = $3`
)

// IssueDeviceCredentials creates the client of a device, or gives it a new secret. Tokens of the
// former secret are revoked.
func (h *Credentials) IssueDeviceCredentials(ctx context.Context, req *udmv1.IssueDeviceCredentialsRequest) (*udmv1.DeviceCredentials, error) {
	var clientID string
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := kind().GetForUpdate(ctx, tx, req.GetId()); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, nameClient, tenant.Of(ctx), req.GetId(), "device-"+rand.Text()).Scan(&clientID); err != nil {
			return fmt.Errorf("store the client of a device: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	client, err := h.clients.RotateClientSecret(ctx, &authv1.RotateClientSecretRequest{ClientId: clientID})
	if fault.HasStatus(err, http.StatusNotFound) {
		client, err = h.clients.CreateClient(ctx, &authv1.Client{
			ClientId: clientID, PasswordGrant: proto.Bool(false), RefreshGrant: proto.Bool(false), ClientGrant: proto.Bool(true),
			AccessProfile: accessProfile, Scopes: scopes,
		})
	}
	if err != nil {
		return nil, err
	}
	return &udmv1.DeviceCredentials{ClientId: client.GetClientId(), ClientSecret: client.GetClientSecret()}, nil
}

// RevokeDeviceCredentials deletes the client of a device, with its tokens. A device without
// credentials stays as it is.
func (h *Credentials) RevokeDeviceCredentials(ctx context.Context, req *udmv1.RevokeDeviceCredentialsRequest) (*emptypb.Empty, error) {
	if _, err := kind().Get(ctx, h.pool, req.GetId()); err != nil {
		return nil, err
	}
	r, err := pg.CollectOne(ctx, h.pool, pgx.RowToStructByPos[reported], readReported, tenant.Of(ctx), []int64{req.GetId()})
	if err != nil || r.ClientID == nil {
		return &emptypb.Empty{}, err
	}
	_, err = h.clients.DeleteClient(ctx, &authv1.DeleteClientRequest{ClientId: *r.ClientID})
	if err != nil && !fault.HasStatus(err, http.StatusNotFound) {
		return nil, err
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, forgetClient, tenant.Of(ctx), req.GetId(), *r.ClientID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("forget the client of a device: %w", err)
	}
	return &emptypb.Empty{}, nil
}
