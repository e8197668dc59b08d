package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/sndpak/sndpak/soundpack"
)

// A bucket of a store that speaks S3 (S3, MinIO, R2, GCS). The store's client finds the credentials and
// signs; the bytes are read as those of any other server. What the AWS tools take from the environment
// counts here too: AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION,
// AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or else the profile AWS_PROFILE of
// ~/.aws/credentials. Without any, requests are not signed, which is right for public buckets.
type bucket struct {
	client *minio.Client
	creds  *credentials.Credentials
	base   *url.URL // of the store; the bucket is the first element of a path
}

// signedFor is how long a signature is good. Each request has its own.
const signedFor = 15 * time.Minute

func newBucket(env func(string) string) (*bucket, error) {
	endpoint := cmp.Or(env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	base, err := url.Parse(endpoint)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("AWS_ENDPOINT_URL: not an http or https address")
	}
	creds := credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{},
	})
	client, err := minio.New(base.Host, &minio.Options{
		Creds:  creds,
		Secure: base.Scheme == "https",
		Region: cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION")),
	})
	if err != nil {
		return nil, err
	}
	return &bucket{client, creds, &url.URL{Scheme: base.Scheme, Host: base.Host}}, nil
}

// openS3 opens s3://bucket/key.
func openS3(ctx context.Context, arg string, opt *soundpack.Options) (*soundpack.Pack, error) {
	b, err := newBucket(os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	data, err := b.address(arg)
	if err != nil {
		return nil, err
	}
	var o soundpack.Options
	if opt != nil {
		o = *opt
	}
	if isS3(o.Index) {
		if o.Index, err = b.address(o.Index); err != nil {
			return nil, err
		}
	}
	return soundpack.OpenRemote(ctx, data, &o, &soundpack.RemoteOptions{Sign: b.sign, Show: b.show})
}

// address is where the store has an object.
func (b *bucket) address(arg string) (string, error) {
	name, key, ok := strings.Cut(arg[len("s3://"):], "/")
	if !ok || name == "" || key == "" {
		return "", usagef("%s: want s3://BUCKET/KEY", arg)
	}
	u := *b.base
	u.Path = "/" + name + "/" + key
	return u.String(), nil
}

// show is an object's address as users write it. Other addresses stay as they are.
func (b *bucket) show(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host != b.base.Host {
		return address
	}
	return "s3:/" + u.Path
}

// sign puts the signed address of an object in the place of its own. Other addresses stay as they are.
func (b *bucket) sign(req *http.Request) error {
	if req.URL.Host != b.base.Host {
		return nil
	}
	v, err := b.creds.GetWithContext(b.client.CredContext())
	if err != nil || v.AccessKeyID == "" {
		return err
	}
	name, key, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
	u, err := b.client.PresignedGetObject(req.Context(), name, key, signedFor, nil)
	if err != nil {
		return err
	}
	req.URL, req.Host = u, u.Host
	return nil
}
