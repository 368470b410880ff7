//go:build kubecluster

package kubernetes

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// renewed bounds the time until a replaced certificate is in use: a kubelet updates mounted Secrets
// about once a minute, and a program reads its files from time to time.
const renewed = 3 * time.Minute

// renewCertificates replaces all certificates, as cert-manager does after some time. Each pod
// serves with the new certificate, and no pod restarts.
func (c *cluster) renewCertificates(t *testing.T, _ *load) {
	authority := c.secret(t, release+"-authority")
	issuer, err := tls.X509KeyPair(authority["tls.crt"], authority["tls.key"])
	require.NoError(t, err)
	before := c.pods(t)
	serials := map[string]*big.Int{}
	for _, name := range append([]string{"https"}, serving...) {
		secret := release + "-" + name + "-tls"
		if name == "https" {
			secret = release + "-https"
		}
		var cert, key []byte
		cert, key, serials[name] = reissue(t, issuer, c.secret(t, secret)["tls.crt"])
		c.kubectl(t, "patch", "secret", secret, "--patch", fmt.Sprintf(`{"data": {"tls.crt": %q, "tls.key": %q}}`,
			base64.StdEncoding.EncodeToString(cert), base64.StdEncoding.EncodeToString(key)))
	}
	// The edge presents clients another certificate than services.
	serials["gateway"] = serials["https"]
	for _, pod := range before {
		serial, serves := serials[pod.component()]
		if !serves {
			continue
		}
		t.Run(pod.Metadata.Name, func(t *testing.T) {
			launch.Await(t, renewed, "the pod serves with the new certificate", func() bool {
				found, err := readCertificate(t.Context(), net.JoinHostPort(pod.Status.PodIP, "8443"))
				require.NoError(t, err)
				return found.SerialNumber.Cmp(serial) == 0
			})
		})
	}
	for _, now := range c.pods(t) {
		for _, was := range before {
			if was.Metadata.Name == now.Metadata.Name {
				assert.Equal(t, was.Metadata.UID, now.Metadata.UID, now.Metadata.Name)
				assert.Equal(t, was.restarts(), now.restarts(), now.Metadata.Name)
			}
		}
	}
}

// serving lists the components that present a certificate.
var serving = []string{"auth", "commons", "timekeeping", "scheduling", "recruiting", "platform", "gateway"}

// reissue creates a certificate with a new key for the names of another.
func reissue(t *testing.T, issuer tls.Certificate, old []byte) (cert, key []byte, serial *big.Int) {
	t.Helper()
	block, _ := pem.Decode(old)
	require.NotNil(t, block)
	parsed, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	serial, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100))
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: serial, Subject: parsed.Subject, DNSNames: parsed.DNSNames, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	made, err := x509.CreateCertificate(rand.Reader, template, issuer.Leaf, private.Public(), issuer.PrivateKey)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), serial
}

// readCertificate returns the certificate that a server presents.
func readCertificate(ctx context.Context, address string) (*x509.Certificate, error) {
	// The test reads which certificate it is, and does not verify it.
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // See above.
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}
