// Command baseline does the least work that a read needs. One handler behind TLS selects shifts,
// stored as one row each, and writes them as JSON by hand. Another one selects a stored response by
// its key. They have no tokens, limits, time zones or rules. A third one returns a response from
// memory.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var files certs.TLSFiles
	listen := flag.String("listen", "127.0.0.1:0", "address of the HTTPS listener")
	database := flag.String("database-url", "", "URL of the database with the shifts")
	chunk := flag.Int("chunk", 64<<10, "bytes that are written at once")
	flag.StringVar(&files.Cert, "cert", "", "file with the certificate")
	flag.StringVar(&files.Key, "key", "", "file with its key")
	flag.Parse()
	pool, err := pgxpool.New(ctx, *database)
	if err != nil {
		return err
	}
	defer pool.Close()
	// The TLS settings of the edge.
	certificates, err := certs.Load(files, slog.Default(), clock.System{})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("POST /", &handler{pool: pool, chunk: *chunk})
	mux.Handle("GET /{id}", &one{pool: pool})
	stored := &memory{chunk: *chunk}
	mux.HandleFunc("PUT /memory", stored.putObject)
	mux.Handle("POST /memory", stored)
	server := &http.Server{Handler: mux, TLSConfig: certificates.HTTPSConfig()}
	return server.ServeTLS(listener, "", "")
}

type handler struct {
	pool  *pgxpool.Pool
	chunk int
}

// request is the part of a schedule read's body that the handler uses.
type request struct {
	Where struct {
		Employees struct {
			EmployeeRefs struct{ IDs []int64 }
			StartDate    string
			EndDate      string
		}
	}
}

// ServeHTTP returns the shifts of employees on days.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req request
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	if err := h.write(r.Context(), w, &req); err != nil {
		slog.Error("shifts", "error", err)
		panic(http.ErrAbortHandler)
	}
}
