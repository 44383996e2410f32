// Drives power-iaas with IBM's own Go client, which the reference installer and its machine provider use, through the life of a
// small cluster. Every answer is also held against the client's models, which were generated from the service's description:
// a field that is required, or a word that is none of the allowed ones, ends the run.
//
// It is told where things are by the environment, prints what it did, and exits with 1 at the first thing that is wrong.
package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/IBM-Cloud/power-go-client/clients/instance"
	"github.com/IBM-Cloud/power-go-client/ibmpisession"
	"github.com/IBM-Cloud/power-go-client/power/models"
	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/go-openapi/strfmt"
)

const patience = 300 * time.Second

type validated interface {
	Validate(strfmt.Registry) error
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	os.Exit(1)
}

// must returns what was asked for, once it has been found to fit its model.
func must[T validated](answer T, err error) T {
	if err != nil {
		fail("refused: %v", err)
	}
	if err := answer.Validate(strfmt.Default); err != nil {
		fail("%T does not fit: %v", answer, err)
	}
	return answer
}

func done(what string, err error) {
	if err != nil {
		fail("%s: %v", what, err)
	}
	fmt.Println(what)
}

func expect(what string, truth bool, seen any) {
	if !truth {
		fail("%s: %+v", what, seen)
	}
	fmt.Println(what)
}

// refused makes sure that something was refused, in words that programs look for.
func refused(what string, err error, words ...string) {
	if err == nil {
		fail("%s was not refused", what)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			fail("%s: %q is not in %v", what, word, err)
		}
	}
	fmt.Println(what + " is refused")
}

// wait looks until it likes what it sees.
func wait[T any](what string, look func() T, wanted func(T) bool) T {
	deadline := time.Now().Add(patience)
	for {
		seen := look()
		if wanted(seen) {
			fmt.Println(what)
			return seen
		}
		if time.Now().After(deadline) {
			fail("%s did not happen; last seen: %+v", what, seen)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func ptr[T any](value T) *T { return &value }

func main() {
	env := func(name string) string {
		value := os.Getenv(name)
		if value == "" {
			fail("%s is not set", name)
		}
		return value
	}
	authenticator := &core.IamAuthenticator{ApiKey: env("IC_API_KEY"), URL: env("IAM_URL")}
	session, err := ibmpisession.NewIBMPISession(&ibmpisession.IBMPIOptions{
		Authenticator: authenticator, URL: env("POWER_URL"), UserAccount: env("ACCOUNT"), Zone: env("ZONE"),
	})
	done("session", err)
	ctx, ws := context.Background(), env("WORKSPACE")

	places(ctx, session, ws, env("ZONE"))
	keys(ctx, session, ws, env("SSH_KEY"))
	image := images(ctx, session, ws, env("COS_REGION"))
	network, dhcp := network(ctx, session, ws)
	server := servers(ctx, session, ws, image, network, dhcp)
	volumes(ctx, session, ws, server)
	remove(ctx, session, ws, image, network, dhcp, server)
}

func places(ctx context.Context, session *ibmpisession.IBMPISession, ws, zone string) {
	all := must(instance.NewIBMPIDatacenterClient(ctx, session, ws).GetAll())
	expect("datacenters", len(all.Datacenters) > 10, len(all.Datacenters))
	here := must(instance.NewIBMPIDatacenterClient(ctx, session, ws).Get(zone))
	expect("a router here", here.Capabilities["power-edge-router"], here.Capabilities)
	own := must(instance.NewIBMPIWorkspacesClient(ctx, session, ws).Get(ws))
	expect("the workspace", *own.Details.PowerEdgeRouter.State == "active", own.Details.PowerEdgeRouter)
	must(instance.NewIBMPIWorkspacesClient(ctx, session, ws).GetAll())
	must(instance.NewIBMPICloudInstanceClient(ctx, session, ws).Get(ws))
	pools, err := instance.NewIBMPISystemPoolClient(ctx, session, ws).GetSystemPools()
	done("system pools", err)
	for _, system := range here.CapabilitiesDetails.SupportedSystems.General {
		pool := pools[system]
		expect("pool "+system, pool.Type == system && len(pool.Systems) > 0, pool)
		must(&pool, nil)
	}
	storage := instance.NewIBMPIStorageCapacityClient(ctx, session, ws)
	must(storage.GetAllStoragePoolsCapacity())
	must(storage.GetAllStorageTypesCapacity())
	must(storage.GetStorageTypeCapacity("tier3"))
	must(instance.NewIBMPIStorageTierClient(ctx, session, ws).GetAll())
}

func keys(ctx context.Context, session *ibmpisession.IBMPISession, ws, key string) {
	client := instance.NewIBMPIKeyClient(ctx, session, ws)
	made := must(client.Create(&models.SSHKey{Name: ptr("go-key"), SSHKey: ptr(key)}))
	expect("ssh key", *made.Name == "go-key", made)
	_, err := client.Create(&models.SSHKey{Name: ptr("go-key"), SSHKey: ptr(key)})
	refused("the same key again", err, "already exists")
	_, err = client.Create(&models.SSHKey{Name: ptr("curve"), SSHKey: ptr("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA x")})
	refused("a key that is not RSA", err, "RSA")
	must(client.GetAll())
	must(client.Get("go-key"))
	must(instance.NewIBMPISSHKeyClient(ctx, session, ws).GetAll())
}

func images(ctx context.Context, session *ibmpisession.IBMPISession, ws, region string) string {
	client, jobs := instance.NewIBMPIImageClient(ctx, session, ws), instance.NewIBMPIJobClient(ctx, session, ws)
	stock := must(client.GetAllStockImages(false, false))
	expect("stock images", len(stock.Images) > 0, stock)
	_, err := client.Get(*stock.Images[0].ImageID)
	refused("a stock image among the own", err, "not found")
	copied := must(client.Create(&models.CreateImage{Source: ptr("root-project"), ImageID: *stock.Images[0].ImageID}))
	done("delete a copied image", client.Delete(*copied.ImageID))
	wanted := models.CreateCosImageImportJob{
		ImageName: ptr("rhcos-go"), BucketName: ptr("rhcos-powervs-images-" + region), Region: ptr(region),
		ImageFilename: ptr("rhcos-ppc64le-powervs.ova.gz"), BucketAccess: ptr("public"), StorageType: "tier1",
	}
	job := must(client.CreateCosImage(&wanted))
	_, err = client.CreateCosImage(&wanted)
	refused("a second import meanwhile", err)
	refused("deleting a job that runs", jobs.Delete(*job.ID))
	finish := func(id string) *models.Job {
		return wait("an import ends", func() *models.Job { return must(jobs.Get(id)) },
			func(job *models.Job) bool { return *job.Status.State == "completed" || *job.Status.State == "failed" })
	}
	ended := finish(*job.ID)
	expect("it completed", *ended.Status.State == "completed" && *ended.Operation.Action == "imageImport", ended.Status)
	must(jobs.GetAll())
	found := ""
	for _, image := range must(client.GetAll()).Images {
		if *image.Name == "rhcos-go" {
			found = *image.ImageID
		}
	}
	image := must(client.Get(found))
	expect("the image", image.State == "active" && *image.StorageType == "tier1" && *image.Size == 120, image)
	wanted.ImageName, wanted.BucketName = ptr("no-bucket"), ptr("nobody-has-this")
	ended = finish(*must(client.CreateCosImage(&wanted)).ID)
	expect("an import without a bucket fails", *ended.Status.State == "failed" && strings.Contains(ended.Status.Message, "not found"), ended.Status)
	done("delete a job that ended", jobs.Delete(*ended.ID))
	return found
}

func network(ctx context.Context, session *ibmpisession.IBMPISession, ws string) (string, string) {
	networks, client := instance.NewIBMPINetworkClient(ctx, session, ws), instance.NewIBMPIDhcpClient(ctx, session, ws)
	plain := must(networks.Create(&models.NetworkCreate{Name: "go-net", Type: ptr("vlan"), Cidr: "10.9.8.0/24"}))
	expect("a network", plain.Gateway == "10.9.8.1" && *plain.Cidr == "10.9.8.0/24", plain)
	port := must(networks.CreatePort(*plain.NetworkID, &models.NetworkPortCreate{Description: "p"}))
	must(networks.GetAllPorts(*plain.NetworkID))
	must(networks.GetAllNetworkInterfaces(*plain.NetworkID))
	refused("deleting a network with a port", networks.Delete(*plain.NetworkID), "one or more network interfaces have an IP allocation")
	done("delete the port", networks.DeletePort(*plain.NetworkID, *port.PortID))
	done("delete the network", networks.Delete(*plain.NetworkID))

	made := must(client.Create(&models.DHCPServerCreate{Name: ptr("go-network"), Cidr: ptr("192.168.77.0/24"), SnatEnabled: ptr(true)}))
	expect("a dhcp server", *made.Status == "BUILD", made)
	_, err := client.Create(&models.DHCPServerCreate{Name: ptr("second")})
	refused("a second dhcp server", err, "quota")
	wait("the dhcp server is active", func() *models.DHCPServerDetail { return must(client.Get(*made.ID)) },
		func(server *models.DHCPServerDetail) bool { return *server.Status == "ACTIVE" })
	must(client.GetAll())
	for _, network := range must(networks.GetAll()).Networks {
		if *network.Name == "DHCPSERVERgo-network_Private" {
			expect("it manages its network", network.DhcpManaged, network)
			return *network.NetworkID, *made.ID
		}
	}
	fail("the dhcp server has no network")
	return "", ""
}

func servers(ctx context.Context, session *ibmpisession.IBMPISession, ws, image, network, dhcp string) string {
	client, servers := instance.NewIBMPIInstanceClient(ctx, session, ws), instance.NewIBMPIDhcpClient(ctx, session, ws)
	groups := instance.NewIBMPIPlacementGroupClient(ctx, session, ws)
	group := must(groups.Create(&models.PlacementGroupCreate{Name: ptr("go-group"), Policy: ptr("anti-affinity")}))
	body := models.PVMInstanceCreate{
		ImageID: ptr(image), KeyPairName: "go-key", Memory: ptr(8.0), Processors: ptr(0.5), ProcType: ptr("shared"),
		ServerName: ptr("go-master-0"), SysType: "s922", StorageType: "tier1", PlacementGroup: *group.ID,
		Networks: []*models.PVMInstanceAddNetwork{{NetworkID: ptr(network)}},
		UserData: base64.StdEncoding.EncodeToString([]byte(`{"ignition":{"version":"3.4.0"}}`)),
	}
	made := *must(client.Create(&body))
	expect("one server", len(made) == 1 && *made[0].Status == "BUILD", made)
	id := *made[0].PvmInstanceID
	get := func() *models.PVMInstance { return must(client.Get(id)) }
	active := func(server *models.PVMInstance) bool { return *server.Status == "ACTIVE" }
	server := wait("the server is active", get, active)
	expect("its health is no obstacle", server.Health.Status == "WARNING", server.Health)
	expect("its network has no address", len(server.Networks) == 1 && server.Networks[0].IPAddress == "", server.Networks[0])
	expect("networks and addresses are the same", reflect.DeepEqual(server.Networks, server.Addresses), server.Addresses)
	expect("it is in its group", server.PlacementGroup != nil && *server.PlacementGroup == *group.ID, server.PlacementGroup)
	mac := server.Networks[0].MacAddress
	wait("its lease", func() *models.DHCPServerDetail { return must(servers.Get(dhcp)) }, func(detail *models.DHCPServerDetail) bool {
		for _, lease := range detail.Leases {
			if *lease.InstanceMacAddress == mac && strings.HasPrefix(*lease.InstanceIP, "192.168.77.") {
				return true
			}
		}
		return false
	})
	must(client.GetAll())
	act := func(action string) error { return client.Action(id, &models.PVMInstanceAction{Action: ptr(action)}) }
	refused("starting what runs", act("start"))
	done("stop", act("immediate-shutdown"))
	wait("the server is off", get, func(server *models.PVMInstance) bool { return *server.Status == "SHUTOFF" })
	done("start", act("start"))
	wait("the server is on", get, active)
	for _, action := range []string{"soft-reboot", "hard-reboot"} {
		done(action, act(action))
	}
	console := must(client.PostConsoleURL(id))
	expect("a console", strings.HasPrefix(*console.ConsoleURL, "https://"), console)
	changed := must(client.Update(id, &models.PVMInstanceUpdate{ServerName: "go-master-9", Memory: 16}))
	expect("a change", changed.ServerName == "go-master-9" && changed.Memory == 16, changed)
	body.ServerName, body.ImageID, body.PlacementGroup = ptr("nothing"), ptr("11111111-2222-3333-4444-555555555555"), ""
	_, err := client.Create(&body)
	refused("a server without an image", err, "not found")
	body.ImageID, body.SysType = ptr(image), "z16"
	_, err = client.Create(&body)
	refused("a server of another kind", err, "sysType")
	must(groups.DeleteMember(*group.ID, &models.PlacementGroupServer{ID: ptr(id)}))
	_, err = groups.DeleteMember(*group.ID, &models.PlacementGroupServer{ID: ptr(id)})
	refused("leaving a group twice", err, "is not part of placement-group")
	must(groups.AddMember(*group.ID, &models.PlacementGroupServer{ID: ptr(id)}))
	must(groups.GetAll())
	refused("deleting a group with a member", groups.Delete(*group.ID))
	return id
}

func volumes(ctx context.Context, session *ibmpisession.IBMPISession, ws, server string) {
	client := instance.NewIBMPIVolumeClient(ctx, session, ws)
	made := must(client.CreateVolume(&models.CreateDataVolume{Name: ptr("go-data"), Size: ptr(10.0), DiskType: "tier3"}))
	state := func(wanted string) {
		wait("the volume is "+wanted, func() *models.Volume { return must(client.Get(*made.VolumeID)) },
			func(volume *models.Volume) bool { return volume.State == wanted })
	}
	state("available")
	done("attach", client.Attach(server, *made.VolumeID))
	state("in-use")
	expect("two volumes", len(must(client.GetAllInstanceVolumes(server)).Volumes) == 2, server)
	refused("deleting what is attached", client.DeleteVolume(*made.VolumeID))
	done("detach", client.Detach(server, *made.VolumeID))
	state("available")
	must(client.GetAll())
	done("delete the volume", client.DeleteVolume(*made.VolumeID))
}

func remove(ctx context.Context, session *ibmpisession.IBMPISession, ws, image, network, dhcp, server string) {
	servers, client := instance.NewIBMPIDhcpClient(ctx, session, ws), instance.NewIBMPIInstanceClient(ctx, session, ws)
	refused("deleting a dhcp server in use", servers.Delete(dhcp), "still attached to pvm-instances", network)
	done("delete the server", client.Delete(server))
	wait("the server is gone", func() error { _, err := client.Get(server); return err },
		func(err error) bool { return err != nil && strings.Contains(err.Error(), "not found") })
	done("delete the dhcp server", servers.Delete(dhcp))
	wait("the dhcp server is gone", func() error { _, err := servers.Get(dhcp); return err },
		func(err error) bool { return err != nil && strings.Contains(err.Error(), "dhcp server does not exist") })
	_, err := instance.NewIBMPINetworkClient(ctx, session, ws).Get(network)
	refused("the network of the dhcp server", err, "not found")
	done("delete the image", instance.NewIBMPIImageClient(ctx, session, ws).Delete(image))
	done("delete the key", instance.NewIBMPIKeyClient(ctx, session, ws).Delete("go-key"))
	for _, group := range must(instance.NewIBMPIPlacementGroupClient(ctx, session, ws).GetAll()).PlacementGroups {
		done("delete a group", instance.NewIBMPIPlacementGroupClient(ctx, session, ws).Delete(*group.ID))
	}
}
